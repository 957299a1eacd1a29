/**
 * The allowed differences, one rule per decision. A rule never waves a difference through: it recognises its case,
 * works out what the decision prescribes, checks our result against that, and rewrites what is expected.
 * After all rules the expected and the actual outcome must still be equal.
 *
 * D19 (one descriptor instead of stat, then read by path) has no rule: without a change in the middle of a read,
 * which only another process can make, both ways have the same outcome, and the sequences demand just that.
 */
import type { Case, RuleName, RuleSet } from './case.ts'
import { at, type PlainObject } from './plain.ts'
import { checkHunks, type Hunk } from './reference.ts'
import { typedErrors } from './rules-errors.ts'
import { dueWindow, editRules } from './rules-text.ts'

/** D10: a call that waits for the lock of its target may be cancelled there, before its guard is looked at. */
function cancelledWaiting(one: Case): boolean {
  if (one.call.kind !== 'queue') return false
  let used = false
  one.call.calls.forEach((call, index) => {
    const expected = at(one.expected, 'calls', index) as PlainObject | undefined
    const error = at(one.actual, 'calls', index, 'error') as PlainObject | undefined
    if (index === 0 || call.signal === undefined || expected?.error === undefined || error === undefined) return
    // The fence comes before the lock.
    if (at(expected.error, 'code') === 'FS_SANDBOX_DENIED') return
    const message = call.method === 'writeText' ? 'write aborted' : 'edit aborted'
    if (error.message !== message || at(expected.error, 'message') === message) return
    expected.error = { class: 'FsError', name: 'FsError', code: 'FS_ABORTED', message, cause: 'none' }
    used = true
  })
  return used
}

/** D21: hunks need not be the original's, but they must turn the old text into the new one. */
function otherHunks(one: Case): boolean {
  const { call, expected, actual } = one
  if (call.kind !== 'tool' || at(expected, 'outcome', 'isError') !== false || at(actual, 'outcome', 'isError') !== false) return false
  const before = at(expected, 'outcome', 'value', 'before')
  const after = at(expected, 'outcome', 'value', 'after')
  const diffs = at(actual, 'outcome', 'meta', 'diffs')
  if (typeof before !== 'string' || typeof after !== 'string' || !Array.isArray(diffs)) return false
  const path = String((call.args as { file_path: string }).file_path)
  const hunks = diffs as unknown as Hunk[]
  const wrong = hunks.some((hunk) => hunk.path !== path) ? 'a hunk has another path' : checkHunks(before, after, hunks)
  if (wrong !== undefined) one.problems.push(`D21: ${wrong}`)
  if (wrong !== undefined || JSON.stringify(at(expected, 'outcome', 'meta', 'diffs')) === JSON.stringify(diffs)) return false
  ;(at(expected, 'outcome', 'meta') as PlainObject).diffs = diffs
  const view = at(expected, 'resultView') as PlainObject
  if (view.card === 'diff' && hunks.length > 0) view.diffs = diffs
  return true
}

const RULES: readonly [RuleName[], (one: Case) => RuleName[]][] = [
  [['D10'], (one) => (cancelledWaiting(one) ? ['D10'] : [])],
  [['D18'], (one) => (typedErrors(one) ? ['D18'] : [])],
  [['D11', 'D13'], (one) => editRules(one)],
  [['D14'], (one) => (dueWindow(one) ? ['D14'] : [])],
  [['D21'], (one) => (otherHunks(one) ? ['D21'] : [])],
]

/** Rewrites what is expected by the decisions in force. @returns the rules that were used. */
export function applyRules(one: Case, rules: RuleSet): RuleName[] {
  return RULES.filter(([names]) => names.some((name) => rules.has(name))).flatMap(([, rule]) => rule(one))
}
