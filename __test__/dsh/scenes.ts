/**
 * The scenes of the session: what the model calls, what changes behind the harness's back meanwhile, and what the model
 * must be told. `<root>` stands for the directory that holds the workspace.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BEFORE_CUT, OUTSIDE, pageLine } from './files.ts'
import type { Failure } from './model-server.ts'

/** What one side answers differently on purpose, by the name of the decision. */
export interface Difference {
  decision: string
  result: string
}

export interface Step {
  id: string
  tool: 'read' | 'write' | 'edit'
  args: Record<string, unknown> | string
  /** The text the model receives from the original. */
  result: string
  /** The text where the provider does not confine, if another. */
  unconfined?: string
  native?: Difference
}

export interface Scene {
  title: string
  steps: readonly Step[]
  before?: (work: string) => void
  failFirst?: Failure
}

/** Every step of the session is played in a directory of this name below the root. */
export const WORK = 'work'
const AT = `<root>/${WORK}`

function numbered(from: number, to: number, name: (line: number) => string): string {
  return Array.from({ length: to - from + 1 }, (_, index) => `${from + index}: ${name(from + index)}\n`).join('')
}

function envelope(path: string, body: string): string {
  return `<path>${AT}/${path}</path>\n<type>file</type>\n<content>\n${body}\n</content>`
}

/** The text of a read: its numbered lines, a blank line, a footer. */
function lines(path: string, texts: readonly string[]): string {
  const body = texts.map((text, index) => `${index + 1}: ${text}\n`).join('')
  return envelope(path, `${body}\n(End of file - total ${texts.length} lines)`)
}

const edited = (path: string): string => `The file ${AT}/${path} has been updated successfully.`
const editedAll = (path: string): string => `The file ${AT}/${path} has been updated. All occurrences were successfully replaced.`
const created = (path: string): string => envelope(path, 'Created file')
const updated = (path: string): string => envelope(path, 'Updated file')

const CUT_MARK = '... (line truncated to 2000 chars)'
const DENIED = [
  '[sandbox: file access denied under workspace-write mode]',
  '[sandbox: escalation available — retry this exact operation once with sandbox_permissions (the narrowest wider mode that suffices) + justification; the approval prompt asks the user]',
].join('\n')

export const SCENES: readonly Scene[] = [
  {
    title: 'create, with parents',
    steps: [{ id: 'create', tool: 'write', args: { file_path: 'made/by/write.txt', content: 'one\ntwo\n' }, result: created('made/by/write.txt') }],
  },
  {
    title: 'read what was created',
    steps: [{ id: 'read-created', tool: 'read', args: { file_path: 'made/by/write.txt' }, result: lines('made/by/write.txt', ['one', 'two']) }],
  },
  {
    title: 'edits in a row, one of a path with ..',
    steps: [
      { id: 'edit-created', tool: 'edit', args: { file_path: 'made/by/write.txt', old_string: 'two', new_string: 'TWO' }, result: edited('made/by/write.txt') },
      { id: 'edit-dots', tool: 'edit', args: { file_path: 'folder/../made/by/write.txt', old_string: 'one', new_string: 'uno' }, result: edited('made/by/write.txt') },
    ],
  },
  {
    title: 'edit and write refused before reading',
    steps: [
      {
        id: 'edit-unseen',
        tool: 'edit',
        args: { file_path: 'notes.txt', old_string: 'gamma', new_string: 'delta' },
        result: `Error: edit requires reading "${AT}/notes.txt" first — read the file, then retry`,
      },
      {
        id: 'write-unseen',
        tool: 'write',
        args: { file_path: 'notes.txt', content: 'lost\n' },
        result: `Error: cannot overwrite existing "${AT}/notes.txt" without reading it first — read the file, then retry`,
      },
    ],
  },
  {
    title: 'read, after a server error',
    failFirst: 'unavailable',
    steps: [{ id: 'read-notes', tool: 'read', args: { file_path: 'notes.txt' }, result: lines('notes.txt', ['alpha', 'beta', 'alpha beta', 'gamma']) }],
  },
  {
    title: 'edits that match too often, not at all, or change nothing',
    steps: [
      {
        id: 'edit-ambiguous',
        tool: 'edit',
        args: { file_path: 'notes.txt', old_string: 'alpha', new_string: 'x' },
        result: `Error: old_string matched 2 times in "${AT}/notes.txt"; provide a more specific old_string or set replace_all to true`,
      },
      {
        id: 'edit-no-match',
        tool: 'edit',
        args: { file_path: 'notes.txt', old_string: 'epsilon', new_string: 'x' },
        result: `Error: old_string was not found in "${AT}/notes.txt"`,
      },
      { id: 'edit-same', tool: 'edit', args: { file_path: 'notes.txt', old_string: 'alpha', new_string: 'alpha' }, result: 'Error: old_string and new_string must differ' },
    ],
  },
  {
    title: 'replace_all',
    steps: [
      { id: 'edit-all', tool: 'edit', args: { file_path: 'notes.txt', old_string: 'alpha', new_string: 'ALPHA', replace_all: true }, result: editedAll('notes.txt') },
      { id: 'edit-all-again', tool: 'edit', args: { file_path: 'notes.txt', old_string: 'beta', new_string: 'BETA', replace_all: true }, result: editedAll('notes.txt') },
    ],
  },
  {
    title: 'paging, three reads at once',
    steps: [
      {
        id: 'page-1',
        tool: 'read',
        args: { file_path: 'pages.txt', limit: 10 },
        result: envelope('pages.txt', `${numbered(1, 10, pageLine)}\n(Showing lines 1-10 of 25. Use offset=11 to continue.)`),
      },
      {
        id: 'page-2',
        tool: 'read',
        args: { file_path: 'pages.txt', offset: 11, limit: 10 },
        result: envelope('pages.txt', `${numbered(11, 20, pageLine)}\n(Showing lines 11-20 of 25. Use offset=21 to continue.)`),
      },
      {
        id: 'page-3',
        tool: 'read',
        args: { file_path: 'pages.txt', offset: 21 },
        result: envelope('pages.txt', `${numbered(21, 25, pageLine)}\n(End of file - total 25 lines)`),
      },
    ],
  },
  {
    title: 'paging beyond the limits',
    steps: [
      { id: 'page-out', tool: 'read', args: { file_path: 'pages.txt', offset: 26 }, result: `Error: offset 26 is out of range for "${AT}/pages.txt" (25 lines)` },
      { id: 'page-limit', tool: 'read', args: { file_path: 'pages.txt', limit: 2001 }, result: 'Error: limit must be less than or equal to 2000' },
      { id: 'page-zero', tool: 'read', args: { file_path: 'pages.txt', offset: 0 }, result: 'Error: offset must be a positive integer' },
      {
        id: 'page-default',
        tool: 'read',
        args: { file_path: 'long.txt' },
        result: envelope('long.txt', `${numbered(1, 2000, String)}\n(Showing lines 1-2000 of 2005. Use offset=2001 to continue.)`),
      },
    ],
  },
  {
    title: 'a file read before it changes',
    steps: [
      { id: 'read-stale', tool: 'read', args: { file_path: 'stale.txt' }, result: lines('stale.txt', ['first', 'second']) },
      { id: 'read-gone', tool: 'read', args: { file_path: 'gone.txt' }, result: lines('gone.txt', ['soon gone']) },
    ],
  },
  {
    title: 'stale write and edit, after a change and a deletion from outside',
    before: (work) => {
      writeFileSync(join(work, 'stale.txt'), 'changed by somebody else\n')
      rmSync(join(work, 'gone.txt'))
    },
    steps: [
      {
        id: 'write-stale',
        tool: 'write',
        args: { file_path: 'stale.txt', content: 'would be lost\n' },
        result: `Error: cannot write "${AT}/stale.txt": file changed since it was read — re-read the file, then retry`,
      },
      {
        id: 'edit-stale',
        tool: 'edit',
        args: { file_path: 'stale.txt', old_string: 'first', new_string: 'x' },
        result: `Error: cannot edit "${AT}/stale.txt": file changed since it was read — re-read the file, then retry`,
      },
      {
        id: 'write-gone',
        tool: 'write',
        args: { file_path: 'gone.txt', content: 'back again\n' },
        result: `Error: cannot write "${AT}/gone.txt": file no longer exists — re-read the file, then retry`,
      },
      { id: 'read-absent', tool: 'read', args: { file_path: 'gone.txt' }, result: `Error: cannot read "${AT}/gone.txt": not found` },
      {
        id: 'edit-absent',
        tool: 'edit',
        args: { file_path: 'gone.txt', old_string: 'soon', new_string: 'x' },
        result: `Error: cannot edit "${AT}/gone.txt": not found`,
      },
      { id: 'write-again', tool: 'write', args: { file_path: 'gone.txt', content: 'back again\n' }, result: created('gone.txt') },
    ],
  },
  {
    title: 're-read and write, after a cut answer',
    failFirst: 'cut',
    steps: [
      { id: 'reread-stale', tool: 'read', args: { file_path: 'stale.txt' }, result: lines('stale.txt', ['changed by somebody else']) },
      { id: 'rewrite-stale', tool: 'write', args: { file_path: 'stale.txt', content: 'written after re-reading\n' }, result: updated('stale.txt') },
    ],
  },
  {
    title: 'CRLF',
    steps: [
      { id: 'read-crlf', tool: 'read', args: { file_path: 'windows.txt' }, result: lines('windows.txt', ['one', 'two', 'three']) },
      {
        id: 'edit-crlf',
        tool: 'edit',
        args: { file_path: 'windows.txt', old_string: 'two\nthree', new_string: 'TWO\nand a half\nthree' },
        result: edited('windows.txt'),
      },
      { id: 'read-mixed', tool: 'read', args: { file_path: 'mixed.txt' }, result: lines('mixed.txt', ['one', 'two', 'three']) },
      { id: 'edit-mixed', tool: 'edit', args: { file_path: 'mixed.txt', old_string: 'three', new_string: '3' }, result: edited('mixed.txt') },
      { id: 'read-marked', tool: 'read', args: { file_path: 'marked.txt' }, result: lines('marked.txt', ['marked one', 'marked two']) },
      { id: 'edit-marked', tool: 'edit', args: { file_path: 'marked.txt', old_string: 'marked two', new_string: 'marked 2' }, result: edited('marked.txt') },
    ],
  },
  {
    title: 'Unicode names and content',
    steps: [
      { id: 'read-cjk', tool: 'read', args: { file_path: '数据/说明.md' }, result: lines('数据/说明.md', ['# 说明', '', '第一行：你好，世界', '第二行 😀']) },
      { id: 'edit-cjk', tool: 'edit', args: { file_path: '数据/说明.md', old_string: '世界\n第二行 😀', new_string: '宇宙\n第二行 🚀' }, result: edited('数据/说明.md') },
      {
        id: 'write-cjk',
        tool: 'write',
        args: { file_path: '新目录/新文件-é.txt', content: '全新的内容\n绝对路径\n' },
        result: created('新目录/新文件-é.txt'),
      },
      { id: 'read-cjk-new', tool: 'read', args: { file_path: `${AT}/新目录/新文件-é.txt` }, result: lines('新目录/新文件-é.txt', ['全新的内容', '绝对路径']) },
    ],
  },
  {
    title: 'reads, a write and two edits of one file in one answer',
    steps: [
      { id: 'both-read', tool: 'read', args: { file_path: 'both.txt' }, result: lines('both.txt', ['left', 'right']) },
      { id: 'both-inside', tool: 'read', args: { file_path: 'folder/inside.txt' }, result: lines('folder/inside.txt', ['inside']) },
      { id: 'both-write', tool: 'write', args: { file_path: 'parallel.txt', content: 'made beside reads\n' }, result: created('parallel.txt') },
      { id: 'both-edit-1', tool: 'edit', args: { file_path: 'both.txt', old_string: 'left', new_string: 'LEFT' }, result: edited('both.txt') },
      { id: 'both-edit-2', tool: 'edit', args: { file_path: 'both.txt', old_string: 'right', new_string: 'RIGHT' }, result: edited('both.txt') },
      { id: 'both-reread', tool: 'read', args: { file_path: 'both.txt' }, result: lines('both.txt', ['LEFT', 'RIGHT']) },
    ],
  },
  {
    title: 'what is not text',
    steps: [
      { id: 'read-binary', tool: 'read', args: { file_path: 'binary.bin' }, result: `Error: cannot read "${AT}/binary.bin": binary file` },
      { id: 'read-latin', tool: 'read', args: { file_path: 'latin.txt' }, result: `Error: cannot read "${AT}/latin.txt": invalid UTF-8 text` },
      { id: 'read-folder', tool: 'read', args: { file_path: 'folder' }, result: `Error: cannot read "${AT}/folder": not a regular file` },
      { id: 'write-folder', tool: 'write', args: { file_path: 'folder', content: '' }, result: `Error: cannot write "${AT}/folder": not a regular file` },
    ],
  },
  {
    title: 'edges of text',
    steps: [
      { id: 'read-empty', tool: 'read', args: { file_path: 'empty.txt' }, result: envelope('empty.txt', '(End of file - total 0 lines)') },
      { id: 'write-empty', tool: 'write', args: { file_path: 'blank.txt', content: '' }, result: created('blank.txt') },
      { id: 'read-no-newline', tool: 'read', args: { file_path: 'no-newline.txt' }, result: lines('no-newline.txt', ['last line']) },
      {
        id: 'read-wide',
        tool: 'read',
        args: { file_path: 'wide.txt' },
        // Half a character reaches the wire, as an escape in the JSON.
        result: lines('wide.txt', [`${BEFORE_CUT}\uD83D${CUT_MARK}`, 'short']),
        native: { decision: 'D14', result: lines('wide.txt', [`${BEFORE_CUT}${CUT_MARK}`, 'short']) },
      },
    ],
  },
  {
    title: 'arguments that do not fit',
    steps: [
      { id: 'args-missing', tool: 'read', args: { offset: 1 }, result: 'Error: invalid arguments: missing required property "file_path"' },
      { id: 'args-type', tool: 'edit', args: { file_path: 'notes.txt', old_string: 1, new_string: 'x' }, result: 'Error: invalid arguments: "old_string" must be a string' },
      { id: 'args-broken', tool: 'write', args: '{"file_path": "x", "content', result: 'Error: invalid arguments: "arguments" must be an object' },
      { id: 'args-blank', tool: 'write', args: { file_path: ' ', content: '' }, result: 'Error: file_path must be a non-empty string' },
    ],
  },
  {
    title: 'outside the workspace',
    steps: [
      {
        id: 'outside',
        tool: 'write',
        args: { file_path: `../${OUTSIDE.path}`, content: OUTSIDE.content },
        result: `Error: ${DENIED}`,
        unconfined: created(OUTSIDE.path).replace(`${AT}/`, '<root>/'),
      },
      {
        id: 'escalate-bare',
        tool: 'write',
        args: { file_path: `../${OUTSIDE.path}`, content: '', sandbox_permissions: 'danger-full-access' },
        result: 'Error: invalid escalation: sandbox_permissions requires a justification',
      },
      {
        id: 'escalate',
        tool: 'edit',
        args: { file_path: 'notes.txt', old_string: 'gamma', new_string: 'x', sandbox_permissions: 'danger-full-access', justification: 'The test asks.' },
        result: 'Error: sandbox escalation to "danger-full-access" requires approval, but no approval channel is available',
        unconfined: 'Error: sandbox_permissions is not available in this composition (no sandboxing filesystem to escalate)',
      },
    ],
  },
]
