/** Diff cards of `write` and `edit`. The diff itself is the addon's; here it is turned into texts. Contract: hunks. */
import type { FileDiff, ToolResult, ToolRunContext } from '@deepseek-ai/dsh-tools'
import { diffHunks } from '../native.ts'

/** A diff as the executor made it, off the event loop. */
export interface AppliedDiff {
  before: string
  after: string
  /** Five numbers a hunk: oldStart, oldEnd, newStart, newEnd as UTF-16 offsets, and 0 if the hunk has no old line. */
  hunks: Float64Array
}

/** A hunk as the cards show it. An alias, as an interface would not count as JSON. */
type HunkDiff = { path: string; oldText: string | null; newText: string }

const NUMBERS_PER_HUNK = 5

/** Diffs on their way from `execute` to the metadata. The runtime hands both the same frozen arguments object. */
const kept = new WeakMap<object, AppliedDiff>()

/**
 * Keeps the diff of a call until its metadata are made.
 *
 * @param exec the call
 * @param args its arguments object
 * @param diff what the executor returned
 */
export function keepDiff(exec: ToolRunContext, args: object, diff: AppliedDiff): void {
  // The runtime makes no metadata for a call from within another call.
  if (exec.parent === undefined) kept.set(args, diff)
}

/**
 * The hunks of a result as the cards show them.
 *
 * @param args the arguments object of the call; its path is put on every hunk
 * @param before the text before the change
 * @param after the text after the change
 */
export function fileDiffs(args: { file_path: string }, before: string, after: string): HunkDiff[] {
  const diff = kept.get(args)
  // The arguments may live as long as the session, the texts need not.
  kept.delete(args)
  // Another plugin may have put another value in the place of the tool's.
  const isOfThisValue = diff !== undefined && diff.before === before && diff.after === after
  return slices(args.file_path, before, after, isOfThisValue ? diff.hunks : diffHunks(before, after))
}

function slices(path: string, before: string, after: string, hunks: Float64Array): HunkDiff[] {
  return Array.from({ length: hunks.length / NUMBERS_PER_HUNK }, (_, index) => {
    const at = index * NUMBERS_PER_HUNK
    const [oldStart, oldEnd, newStart, newEnd, hasOld] = hunks.subarray(at, at + NUMBERS_PER_HUNK)
    return { path, oldText: hasOld === 0 ? null : before.slice(oldStart, oldEnd), newText: after.slice(newStart, newEnd) }
  })
}

/**
 * Reads the diffs back from the metadata of a result, live or from a log.
 *
 * @param result the outcome; its metadata may come from another version of the tool
 * @returns at least one diff, or undefined
 */
export function diffsOf(result: ToolResult): FileDiff[] | undefined {
  const { meta } = result
  if (typeof meta !== 'object' || meta === null) return undefined
  const { diffs } = meta as { diffs?: unknown }
  return Array.isArray(diffs) && diffs.length > 0 && diffs.every(isFileDiff) ? diffs : undefined
}

function isFileDiff(value: unknown): value is FileDiff {
  if (typeof value !== 'object' || value === null) return false
  const { path, oldText, newText } = value as Record<string, unknown>
  return typeof path === 'string' && (oldText === null || typeof oldText === 'string') && typeof newText === 'string'
}
