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
  /** Memory of the first call, then stalls of further calls for up to `ms`, unless `ms` is 0. */
  | { readonly kind: 'fresh'; readonly ms: number }
  /** Imports, mounts and reads once; the process must have done nothing before. */
  | { readonly kind: 'start' }

/** What a fresh process found. Times in milliseconds, memory in bytes. */
export interface Fresh {
  readonly firstMs: number
  readonly memory: number
  readonly firstStall: number
  /** The longest stall of each further call. */
  readonly stalls: readonly number[]
  /** The longest stall while nothing was done: what the probe sees of the machine's own noise. */
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
  readonly fresh: Fresh
  readonly start: Start
}

export type Answer<K extends Command['kind']> = Answers[K]

export type Reply = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }
