/**
 * The vocabulary of the session: one step is one tool call and the text the model must receive for it. `<root>` stands
 * for the directory that holds the workspace.
 */
import { isAbsolute } from 'node:path'

export interface Step {
  /** Also the id of the call. */
  id: string
  tool: 'read' | 'write' | 'edit'
  /** A string is sent as it is: arguments that are not JSON. */
  args: Record<string, unknown> | string
  /** The text the model receives from the original. */
  result: string
  /** The text where the provider does not confine, if another. */
  unconfined?: string
  /** What our tools answer instead, by the name of the decision. */
  native?: { decision: string; result: string }
}

type More = Pick<Step, 'unconfined' | 'native'>

/** The workspace is a directory of this name below the root. */
export const WORK = 'work'
export const AT = `<root>/${WORK}`

export function read(id: string, path: string, result: string, window: { offset?: number; limit?: number } = {}, more: More = {}): Step {
  return { id, tool: 'read', args: { file_path: path, ...window }, result, ...more }
}

export function write(
  id: string,
  path: string,
  content: string,
  result: string,
  args: Record<string, unknown> = {},
  more: More = {},
): Step {
  return { id, tool: 'write', args: { file_path: path, content, ...args }, result, ...more }
}

export function edit(
  id: string,
  path: string,
  [oldString, newString]: readonly [string, string],
  result: string,
  args: Record<string, unknown> = {},
  more: More = {},
): Step {
  return { id, tool: 'edit', args: { file_path: path, old_string: oldString, new_string: newString, ...args }, result, ...more }
}

/** A path as the model sees it: in the workspace unless it says where it is. */
const shown = (path: string): string => (path.startsWith('<root>') || isAbsolute(path) ? path : `${AT}/${path}`)

function envelope(path: string, body: string): string {
  return `<path>${shown(path)}</path>\n<type>file</type>\n<content>\n${body}\n</content>`
}

/** Lines of a file from a number on, with the footer below them. */
export function page(path: string, first: number, texts: readonly string[], footer: string): string {
  const body = texts.map((text, index) => `${first + index}: ${text}\n`).join('')
  return envelope(path, texts.length === 0 ? footer : `${body}\n${footer}`)
}

/** All lines of a file. */
export function whole(path: string, ...texts: string[]): string {
  return page(path, 1, texts, `(End of file - total ${texts.length} lines)`)
}

export const created = (path: string): string => envelope(path, 'Created file')
export const updated = (path: string): string => envelope(path, 'Updated file')
export const edited = (path: string): string => `The file ${shown(path)} has been updated successfully.`
export const editedAll = (path: string): string => `The file ${shown(path)} has been updated. All occurrences were successfully replaced.`

/** What the model is told when the sandbox denies a write or an edit, which it may then ask to be allowed. */
export const denied = (mode: string): string =>
  [
    `Error: [sandbox: file access denied under ${mode} mode]`,
    '[sandbox: escalation available — retry this exact operation once with sandbox_permissions (the narrowest wider mode that suffices) + justification; the approval prompt asks the user]',
  ].join('\n')
