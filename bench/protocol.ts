/**
 * What the parent and the measured processes say to each other.
 * @module
 */
import type { Work } from './cases.ts'
import type { Places } from './data.ts'
import type { Side } from './sides.ts'

/** The task of one measured process, in its first argument as JSON. */
export interface Task {
  readonly side: Side
  /** Names its directory of changed files. */
  readonly name: string
  readonly places: Places
  readonly work: Work
}

export type Command =
  /** Prepares the case. */
  | { readonly kind: 'prepare' }
  /** One call; gives its digest. */
  | { readonly kind: 'verify' }
  /** Calls until `ms` are over; gives the time of one call, in milliseconds. */
  | { readonly kind: 'warm'; readonly ms: number }
  /** `calls` calls one after another; gives the mean time of one, in milliseconds. */
  | { readonly kind: 'sample'; readonly calls: number }
  /** Further calls, each watched for stalls, until `ms` are over. */
  | { readonly kind: 'stalls'; readonly ms: number }
  /** Memory, time and stall of the first call. */
  | { readonly kind: 'fresh' }
  /** Imports, mounts and reads once; the process must have done nothing before. */
  | { readonly kind: 'start' }

/** What a fresh process found. Times in milliseconds, memory in bytes. */
export interface Fresh {
  readonly firstMs: number
  readonly memory: number
  readonly firstStall: number
}

/** What the stall probe saw, in milliseconds. */
export interface Stalls {
  /** The longest stall of each call. */
  readonly calls: readonly number[]
  /** The longest stall while nothing was done: the machine's own noise. */
  readonly idle: number
}

export interface Start {
  readonly ms: number
  readonly memory: number
}

interface Answers {
  readonly prepare: null
  readonly verify: string
  readonly warm: number
  readonly sample: number
  readonly stalls: Stalls
  readonly fresh: Fresh
  readonly start: Start
}

export type Answer<K extends Command['kind']> = Answers[K]

export type Reply = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }
