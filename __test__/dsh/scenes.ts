/** The scenes of the session: what the model calls, and what changes behind the harness's back meanwhile. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BEFORE_CUT, OUTSIDE, pageLine } from './files.ts'
import type { Failure } from './model-server.ts'
import { AT, created, denied, edit, edited, editedAll, page, read, type Step, updated, whole, write } from './steps.ts'

/** One answer of the model: its calls are parallel ones. */
export interface Scene {
  title: string
  steps: readonly Step[]
  before?: (work: string) => void
  failFirst?: Failure
}

const CUT_MARK = '... (line truncated to 2000 chars)'

const range = (from: number, to: number, name: (line: number) => string): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => name(from + index))

const GUARDED: readonly Scene[] = [
  {
    title: 'create, with parents',
    steps: [write('create', 'made/by/write.txt', 'one\ntwo\n', created('made/by/write.txt'))],
  },
  {
    title: 'read what was created',
    steps: [read('read-created', 'made/by/write.txt', whole('made/by/write.txt', 'one', 'two'))],
  },
  {
    title: 'edits in a row, one of a path with ..',
    steps: [
      edit('edit-created', 'made/by/write.txt', ['two', 'TWO'], edited('made/by/write.txt')),
      edit('edit-dots', 'folder/../made/by/write.txt', ['one', 'uno'], edited('made/by/write.txt')),
    ],
  },
  {
    title: 'edit and write refused before reading',
    steps: [
      edit('edit-unseen', 'notes.txt', ['gamma', 'x'], `Error: edit requires reading "${AT}/notes.txt" first — read the file, then retry`),
      write(
        'write-unseen',
        'notes.txt',
        'lost\n',
        `Error: cannot overwrite existing "${AT}/notes.txt" without reading it first — read the file, then retry`,
      ),
    ],
  },
  {
    title: 'read, after a server error',
    failFirst: 'unavailable',
    steps: [read('read-notes', 'notes.txt', whole('notes.txt', 'alpha', 'beta', 'alpha beta', 'gamma'))],
  },
  {
    title: 'edits that match too often, not at all, or change nothing',
    steps: [
      edit(
        'edit-ambiguous',
        'notes.txt',
        ['alpha', 'x'],
        `Error: old_string matched 2 times in "${AT}/notes.txt"; provide a more specific old_string or set replace_all to true`,
      ),
      edit('edit-no-match', 'notes.txt', ['epsilon', 'x'], `Error: old_string was not found in "${AT}/notes.txt"`),
      edit('edit-same', 'notes.txt', ['alpha', 'alpha'], 'Error: old_string and new_string must differ'),
    ],
  },
  {
    title: 'replace_all',
    steps: [
      edit('edit-all', 'notes.txt', ['alpha', 'ALPHA'], editedAll('notes.txt'), { replace_all: true }),
      edit('edit-all-again', 'notes.txt', ['beta', 'BETA'], editedAll('notes.txt'), { replace_all: true }),
    ],
  },
  {
    title: 'a file read before it changes',
    steps: [
      read('read-stale', 'stale.txt', whole('stale.txt', 'first', 'second')),
      read('read-gone', 'gone.txt', whole('gone.txt', 'soon gone')),
    ],
  },
  {
    title: 'stale write and edit, after a change and a deletion from outside',
    before: (work) => {
      writeFileSync(join(work, 'stale.txt'), 'changed by somebody else\n')
      rmSync(join(work, 'gone.txt'))
    },
    steps: [
      write(
        'write-stale',
        'stale.txt',
        'would be lost\n',
        `Error: cannot write "${AT}/stale.txt": file changed since it was read — re-read the file, then retry`,
      ),
      edit(
        'edit-stale',
        'stale.txt',
        ['first', 'x'],
        `Error: cannot edit "${AT}/stale.txt": file changed since it was read — re-read the file, then retry`,
      ),
      write(
        'write-gone',
        'gone.txt',
        'back again\n',
        `Error: cannot write "${AT}/gone.txt": file no longer exists — re-read the file, then retry`,
      ),
      read('read-absent', 'gone.txt', `Error: cannot read "${AT}/gone.txt": not found`),
      edit('edit-absent', 'gone.txt', ['soon', 'x'], `Error: cannot edit "${AT}/gone.txt": not found`),
      write('write-again', 'gone.txt', 'back again\n', created('gone.txt')),
    ],
  },
  {
    title: 're-read and write, after a cut answer',
    failFirst: 'cut',
    steps: [
      read('reread-stale', 'stale.txt', whole('stale.txt', 'changed by somebody else')),
      write('rewrite-stale', 'stale.txt', 'written after re-reading\n', updated('stale.txt')),
    ],
  },
]

const PAGES: readonly Scene[] = [
  {
    title: 'paging, three reads at once',
    steps: [
      read('page-1', 'pages.txt', page('pages.txt', 1, range(1, 10, pageLine), '(Showing lines 1-10 of 25. Use offset=11 to continue.)'), {
        limit: 10,
      }),
      read(
        'page-2',
        'pages.txt',
        page('pages.txt', 11, range(11, 20, pageLine), '(Showing lines 11-20 of 25. Use offset=21 to continue.)'),
        {
          offset: 11,
          limit: 10,
        },
      ),
      read('page-3', 'pages.txt', page('pages.txt', 21, range(21, 25, pageLine), '(End of file - total 25 lines)'), { offset: 21 }),
    ],
  },
  {
    title: 'paging at and beyond the limits',
    steps: [
      read('page-out', 'pages.txt', `Error: offset 26 is out of range for "${AT}/pages.txt" (25 lines)`, { offset: 26 }),
      read('page-limit', 'pages.txt', 'Error: limit must be less than or equal to 2000', { limit: 2001 }),
      read('page-zero', 'pages.txt', 'Error: offset must be a positive integer', { offset: 0 }),
      read(
        'page-default',
        'long.txt',
        page('long.txt', 1, range(1, 2000, String), '(Showing lines 1-2000 of 2005. Use offset=2001 to continue.)'),
      ),
    ],
  },
]

const TEXTS: readonly Scene[] = [
  {
    title: 'CRLF',
    steps: [
      read('read-crlf', 'windows.txt', whole('windows.txt', 'one', 'two', 'three')),
      edit('edit-crlf', 'windows.txt', ['two\nthree', 'TWO\nand a half\nthree'], edited('windows.txt')),
      read('read-mixed', 'mixed.txt', whole('mixed.txt', 'one', 'two', 'three')),
      edit('edit-mixed', 'mixed.txt', ['three', '3'], edited('mixed.txt')),
      read('read-marked', 'marked.txt', whole('marked.txt', 'marked one', 'marked two')),
      edit('edit-marked', 'marked.txt', ['marked two', 'marked 2'], edited('marked.txt')),
    ],
  },
  {
    title: 'Unicode names and content',
    steps: [
      read('read-cjk', '数据/说明.md', whole('数据/说明.md', '# 说明', '', '第一行：你好，世界', '第二行 😀')),
      edit('edit-cjk', '数据/说明.md', ['世界\n第二行 😀', '宇宙\n第二行 🚀'], edited('数据/说明.md')),
      write('write-cjk', '新目录/新文件-é.txt', '全新的内容\n绝对路径\n', created('新目录/新文件-é.txt')),
      read('read-cjk-new', `${AT}/新目录/新文件-é.txt`, whole('新目录/新文件-é.txt', '全新的内容', '绝对路径')),
    ],
  },
  {
    title: 'reads, a write and two edits of one file in one answer',
    steps: [
      read('both-read', 'both.txt', whole('both.txt', 'left', 'right')),
      read('both-inside', 'folder/inside.txt', whole('folder/inside.txt', 'inside')),
      write('both-write', 'parallel.txt', 'made beside reads\n', created('parallel.txt')),
      edit('both-edit-1', 'both.txt', ['left', 'LEFT'], edited('both.txt')),
      edit('both-edit-2', 'both.txt', ['right', 'RIGHT'], edited('both.txt')),
      read('both-reread', 'both.txt', whole('both.txt', 'LEFT', 'RIGHT')),
    ],
  },
  {
    title: 'edges of text',
    steps: [
      read('read-empty', 'empty.txt', whole('empty.txt')),
      write('write-empty', 'blank.txt', '', created('blank.txt')),
      read('read-no-newline', 'no-newline.txt', whole('no-newline.txt', 'last line')),
      // Half a character reaches the wire, as an escape in the JSON.
      read(
        'read-wide',
        'wide.txt',
        whole('wide.txt', `${BEFORE_CUT}\uD83D${CUT_MARK}`, 'short'),
        {},
        {
          native: { decision: 'D14', result: whole('wide.txt', `${BEFORE_CUT}${CUT_MARK}`, 'short') },
        },
      ),
    ],
  },
]

const REFUSED: readonly Scene[] = [
  {
    title: 'what is not text',
    steps: [
      read('read-binary', 'binary.bin', `Error: cannot read "${AT}/binary.bin": binary file`),
      read('read-latin', 'latin.txt', `Error: cannot read "${AT}/latin.txt": invalid UTF-8 text`),
      read('read-folder', 'folder', `Error: cannot read "${AT}/folder": not a regular file`),
      write('write-folder', 'folder', '', `Error: cannot write "${AT}/folder": not a regular file`),
    ],
  },
  {
    title: 'arguments that do not fit',
    steps: [
      { id: 'args-missing', tool: 'read', args: { offset: 1 }, result: 'Error: invalid arguments: missing required property "file_path"' },
      edit('args-type', 'notes.txt', ['gamma', 'x'], 'Error: invalid arguments: "old_string" must be a string', { old_string: 1 }),
      { id: 'args-broken', tool: 'write', args: '{"file_path": "x"', result: 'Error: invalid arguments: "arguments" must be an object' },
      write('args-blank', ' ', '', 'Error: file_path must be a non-empty string'),
    ],
  },
  {
    title: 'outside the workspace',
    steps: [
      write(
        'outside',
        `../${OUTSIDE.path}`,
        OUTSIDE.content,
        denied('workspace-write'),
        {},
        {
          unconfined: `<path><root>/${OUTSIDE.path}</path>\n<type>file</type>\n<content>\nCreated file\n</content>`,
        },
      ),
      write('escalate-unexplained', `../${OUTSIDE.path}`, '', 'Error: invalid escalation: sandbox_permissions requires a justification', {
        sandbox_permissions: 'danger-full-access',
      }),
      edit(
        'escalate',
        'notes.txt',
        ['gamma', 'x'],
        'Error: sandbox escalation to "danger-full-access" requires approval, but no approval channel is available',
        { sandbox_permissions: 'danger-full-access', justification: 'The test asks.' },
        { unconfined: 'Error: sandbox_permissions is not available in this composition (no sandboxing filesystem to escalate)' },
      ),
    ],
  },
]

export const SCENES: readonly Scene[] = [...GUARDED, ...PAGES, ...TEXTS, ...REFUSED]
