/** D11 and D13 (what an edit does to a file) and D14 (what a read shows of long lines). */

import { type Case, eventTarget, type RuleName, treePath } from './case.ts'
import { at, type Plain, type PlainObject, type Version } from './plain.ts'
import { checkHunks, type EditExpectation, expectEdit, expectWindow, type Hunk, hasHardCut } from './reference.ts'
import type { ToolCall } from './resolve.ts'

interface EditCase {
  path: string
  bytes: Buffer
  expectation: EditExpectation
}

function editOf(one: Case): EditCase | undefined {
  const { call } = one
  let target: PlainObject | undefined
  let edit: [string, string, boolean]
  if (call.kind === 'tool' && call.tool === 'edit') {
    const args = call.args as { old_string: string; new_string: string; replace_all?: boolean } | null
    if (typeof args?.old_string !== 'string' || typeof args.new_string !== 'string') return undefined
    target = eventTarget(one.actual)
    edit = [args.old_string, args.new_string, args.replace_all ?? false]
  } else if (call.kind === 'provider' && call.method === 'editText') {
    target = (one.actual.mutated ?? one.actual.target) as PlainObject | undefined
    edit = [call.oldString ?? '', call.newString ?? '', call.replaceAll ?? false]
  } else {
    return undefined
  }
  const path = treePath(target?.targetKey)
  const bytes = one.before.get(path)?.bytes
  if (target === undefined || bytes === undefined) return undefined
  return { path, bytes, expectation: expectEdit(bytes, String(target.displayPath), ...edit) }
}

/** A listener that changed the tree after the edit hides what the edit itself did. */
function changedAfterwards(one: Case): boolean {
  return one.call.kind === 'tool' && one.call.hook?.at === 'fs/observed' && one.call.hook.act.do === 'change'
}

/** An edit that puts the same text in its place succeeds too: the bytes cannot tell. */
function succeeded({ call, actual }: Case): boolean {
  return call.kind === 'tool' ? at(actual, 'outcome', 'isError') === false : actual.error === undefined
}

/** D11: the bytes of the edited file are ours, if they are what the decision prescribes. */
function editedBytes(one: Case, edit: EditCase): boolean {
  const ours = one.actualTree.get(edit.path)?.bytes
  const theirs = one.expectedTree.get(edit.path)
  if ('error' in edit.expectation || ours === undefined || theirs?.bytes === undefined) return false
  if (!succeeded(one) || changedAfterwards(one)) return false
  const wrong = edit.expectation.check(ours)
  if (wrong !== undefined) one.problems.push(`D11: ${wrong}`)
  if (wrong !== undefined || ours.equals(theirs.bytes)) return false
  one.expectedTree.set(edit.path, { ...theirs, bytes: ours })
  return true
}

function failTool(one: Case, code: string, message: string): void {
  one.expected.outcome = {
    isError: true,
    content: [{ type: 'text', text: `Error: ${message}` }],
    error: { message, info: { name: 'FsError', code } },
  }
}

function succeedTool(one: Case, call: ToolCall, before: string, after: string): void {
  const args = call.args as { file_path: string; replace_all?: boolean }
  const target = eventTarget(one.actual)!
  const shown = String(target.displayPath)
  const diffs = (at(one.actual, 'outcome', 'meta', 'diffs') ?? null) as Plain
  const valid = Array.isArray(diffs) && checkHunks(before, after, diffs as unknown as Hunk[]) === undefined
  const text =
    args.replace_all === true
      ? `The file ${shown} has been updated. All occurrences were successfully replaced.`
      : `The file ${shown} has been updated successfully.`
  one.expected.outcome = {
    isError: false,
    value: { path: shown, before, after },
    content: [{ type: 'text', text }],
    meta: { diffs: valid ? diffs : ['the diffs of the actual result are not valid'] },
  }
  one.expected.resultView =
    Array.isArray(diffs) && diffs.length > 0 ? { card: 'diff', title: `Edit ${args.file_path}`, diffs } : { undefined: true }
  const observed = (one.actual.log as PlainObject[]).find((entry) => entry.event === 'fs/observed')
  const version = at(observed, 'observation', 'version') as Version
  const actor = (one.expected.log as PlainObject[]).find((entry) => 'event' in entry)!.actor!
  ;(one.expected.log as Plain[]).push({ event: 'fs/observed', target, observation: { kind: 'present', version }, exact: true, actor })
}

/** D13: a NUL byte only the original's edit looks at does not stop ours. */
function lateNul(one: Case, edit: EditCase): boolean {
  const nul = edit.bytes.indexOf(0)
  const { call } = one
  const message = call.kind === 'tool' ? at(one.expected, 'outcome', 'error', 'message') : at(one.expected, 'error', 'message')
  if (nul < 8192 || typeof message !== 'string' || !/^cannot edit ".*": binary file$/s.test(message)) return false
  const result = edit.expectation
  if (call.kind === 'tool') {
    if ('error' in result) failTool(one, result.error.code, result.error.message)
    else succeedTool(one, call, result.before, result.after)
    return true
  }
  if ('error' in result) {
    one.expected.error = { class: 'FsError', name: 'FsError', code: result.error.code, message: result.error.message, cause: 'none' }
    return true
  }
  delete one.expected.error
  const version = at(one.actual, 'value', 'info', 'version') as Version
  one.expected.value = { info: { version, before: result.before, after: result.after }, exact: true }
  return true
}

/** What publication does to the tree where only our edit came that far: an inode of its own, without special bits. */
function published(one: Case, path: string): void {
  const entry = one.expectedTree.get(path)
  if (entry === undefined) return
  const { links = [], ...own } = entry
  one.expectedTree.set(path, { ...own, mode: own.mode & 0o777 })
  const rest = links.filter((name) => name !== path)
  for (const name of rest) {
    const { links: _, ...other } = one.expectedTree.get(name)!
    one.expectedTree.set(name, rest.length > 1 ? { ...other, links: rest } : other)
  }
}

/** Both rules of an edit; a file with a late NUL is subject to both. */
export function editRules(one: Case): RuleName[] {
  const edit = editOf(one)
  if (edit === undefined) return []
  const used: RuleName[] = []
  if (lateNul(one, edit)) {
    used.push('D13')
    if (!('error' in edit.expectation) && !changedAfterwards(one)) {
      published(one, edit.path)
      one.publishedByUs.push(edit.path)
    }
  }
  if (editedBytes(one, edit)) used.push('D11')
  return used
}

/** D14: lines that meet the cut at a surrogate pair or at a CR. */
export function dueWindow(one: Case): boolean {
  const { call, expected, actual, settings } = one
  if (call.kind !== 'tool' || call.tool !== 'read') return false
  if (at(expected, 'outcome', 'isError') !== false || at(actual, 'outcome', 'isError') !== false) return false
  const bytes = one.before.get(treePath(eventTarget(actual)?.targetKey))?.bytes
  const lineLength = settings.readMaxLineLength ?? 2000
  if (bytes === undefined) return false
  const text = new TextDecoder('utf-8').decode(bytes)
  if (!hasHardCut(text, lineLength)) return false
  const args = call.args as { offset?: number; limit?: number }
  const lines = settings.readLimit ?? 2000
  const window = expectWindow(text, args.offset ?? 1, args.limit ?? lines, { lines, lineLength, bytes: settings.readMaxBytes ?? 51200 })
  const outcome = expected.outcome as PlainObject
  if (window === undefined || JSON.stringify(window.lines) === JSON.stringify(at(outcome, 'value', 'lines'))) return false
  const path = at(outcome, 'value', 'path')!
  outcome.content = [{ type: 'text', text: `<path>${String(path)}</path>\n<type>file</type>\n<content>\n${window.body}\n</content>` }]
  for (const part of [outcome.value, outcome.meta] as PlainObject[])
    Object.assign(part, { lines: window.lines, totalLines: window.totalLines })
  const view = expected.resultView as PlainObject
  if (view.card === 'read')
    Object.assign(view, { lines: window.lines, totalLines: window.totalLines, content: [{ type: 'text', text: window.body }] })
  return true
}
