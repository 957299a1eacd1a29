/** One operation as both worlds answered it, and the names of the rules that may explain a difference. */
import type { QueueOperation, Settings } from './operations.ts'
import type { Plain, PlainObject } from './plain.ts'
import type { ProviderCall, ToolCall } from './resolve.ts'
import type { Tree } from './tree.ts'

export type RuleName = 'D10' | 'D11' | 'D13' | 'D14' | 'D18' | 'D21'
export const RULE_NAMES: readonly RuleName[] = ['D10', 'D11', 'D13', 'D14', 'D18', 'D21']

/** Which rules hold for a composition: those of the provider, those of the tools. */
export type RuleSet = ReadonlySet<RuleName>
export const PROVIDER_RULES: readonly RuleName[] = ['D10', 'D11', 'D13', 'D18']
export const TOOL_RULES: readonly RuleName[] = ['D14', 'D21']

export type PlayedCall = ToolCall | ProviderCall | QueueOperation

/** One operation as both worlds answered it. */
export interface Case {
  call: PlayedCall
  /** A copy of the original's record, to be rewritten. */
  expected: PlainObject
  actual: PlainObject
  /** The tree the operation found, and the trees it left. */
  before: Tree
  expectedTree: Tree
  actualTree: Tree
  settings: Settings
  /** What a rule found wrong with our result, also where it equals the original's. */
  problems: string[]
  /** Paths of files that only our side published, be it with the same bytes. */
  publishedByUs: string[]
  /** Root of the world that gave `actual`. */
  root: string
}

/** @returns the path of a snapshot entry for a target key. */
export function treePath(key: Plain | undefined): string {
  return String(key).replace(/^<D>\//, '')
}

/** @returns the target a tool call ended up with, as the events of its log show it. */
export function eventTarget(record: PlainObject): PlainObject | undefined {
  const log = record.log as PlainObject[] | undefined
  return log?.find((entry) => 'event' in entry)?.target as PlainObject | undefined
}
