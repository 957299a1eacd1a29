/** Edge cases of the write and edit tools (contract: write, edit, error remedies). The hunks are in hunks.test.ts. */
import { writeFileSync } from 'node:fs'
import { FsError } from '@deepseek-ai/dsh-fs'
import { expect, test } from 'vitest'
import { ABORTED, diffsOf, type Edge, envelope, errorOf, successOf, textOf, toolError, withPolicy, withTools } from './context.ts'

const write = (edge: Edge, file_path: string, content: string, more: object = {}) => edge.call('write', { file_path, content, ...more })
const edit = (edge: Edge, old_string: string, new_string: string, more: object = {}) =>
  edge.call('edit', { file_path: 'e', old_string, new_string, ...more })
const presentResult = (edge: Edge, tool: string, args: object, result: Parameters<typeof textOf>[0]) =>
  edge.ctx.tools.get(tool)!.presentResult!(args, result)

const READ_FIRST = '— read the file, then retry'
const READ_AGAIN = '— re-read the file, then retry'

test('#144 a new file', async () => {
  const edge = await withPolicy()
  const result = await write(edge, 'w.md', 'k\n')
  expect(textOf(result)).toBe(envelope(edge.at('w.md'), 'Created file'))
  expect(successOf(result)).toEqual({ path: edge.at('w.md'), operation: 'create', before: null, after: 'k\n' })
  expect(diffsOf(result)).toEqual([])
})

test('#145 a second write without a read', async () => {
  const edge = await withPolicy()
  await write(edge, 'w.md', 'k\n')
  const result = await write(edge, 'w.md', 'l\n')
  expect(textOf(result)).toBe(envelope(edge.at('w.md'), 'Updated file'))
  expect(diffsOf(result)).toEqual([{ path: 'w.md', oldText: 'k', newText: 'l' }])
})

test('#146 the same content', async () => {
  const edge = await withTools()
  edge.file('w', 'same\n')
  const result = await write(edge, 'w', 'same\n')
  expect(diffsOf(result)).toEqual([])
  expect(presentResult(edge, 'write', { file_path: 'w', content: 'same\n' }, result)).toEqual({
    card: 'diff',
    title: 'Write w',
    diffs: [{ path: 'w', oldText: null, newText: 'same\n' }],
  })
})

test('#147 an edit between CRLF and LF', async () => {
  const edge = await withTools()
  const path = edge.file('e', 'h\r\ni')
  const result = await edit(edge, 'h\r\n', 'h\n')
  expect(textOf(result)).toBe(`The file ${path} has been updated successfully.`)
  expect(diffsOf(result)).toEqual([])
  expect(presentResult(edge, 'edit', { file_path: 'e', old_string: 'h\r\n', new_string: 'h\n' }, result)).toBeUndefined()
})

test('#148 replace_all with one match and with several', async () => {
  for (const content of ['k', 'k k']) {
    const edge = await withTools()
    const path = edge.file('e', content)
    const result = await edit(edge, 'k', 'l', { replace_all: true })
    expect(textOf(result)).toBe(`The file ${path} has been updated. All occurrences were successfully replaced.`)
    expect(edge.text('e')).toBe(content.replaceAll('k', 'l'))
  }
})

for (const [name, args, message] of [
  ['#149 a blank path', { file_path: ' ', old_string: '', new_string: '' }, 'file_path must be a non-empty string'],
  ['#150 an empty searched text', { file_path: 'e', old_string: '', new_string: '' }, 'old_string must be a non-empty string'],
  ['#151 equal texts', { file_path: 'e', old_string: 'k', new_string: 'k' }, 'old_string and new_string must differ'],
] as const) {
  test(name, async () => {
    const edge = await withTools()
    expect(errorOf(await edge.call('edit', args))).toEqual({ message })
  })
}

test('#152 replace_all that is not a boolean', async () => {
  const edge = await withTools()
  expect(errorOf(await edit(edge, 'a', 'b', { replace_all: 1 }))).toEqual({
    message: 'invalid arguments: "replace_all" must be a boolean',
    info: { name: 'ToolArgsError', code: 'INVALID_ARGS' },
  })
})

test('#153 a write to a file that was not read', async () => {
  const edge = await withPolicy()
  const path = edge.file('x', 'old')
  expect(errorOf(await write(edge, 'x', 'new'))).toEqual(
    toolError('FS_NOT_OBSERVED', `cannot overwrite existing "${path}" without reading it first ${READ_FIRST}`),
  )
  expect(edge.text('x')).toBe('old')
})

test('#154 a write to a file that was changed', async () => {
  const edge = await withPolicy()
  const path = edge.file('x', 'old')
  textOf(await edge.call('read', { file_path: 'x' }))
  writeFileSync(path, 'changed')
  expect(errorOf(await write(edge, 'x', 'new'))).toEqual(
    toolError('FS_STALE_VERSION', `cannot write "${path}": file changed since it was read ${READ_AGAIN}`),
  )
  expect(edge.text('x')).toBe('changed')
})

test('#155 an edit of a missing file without a policy', async () => {
  const edge = await withTools()
  expect(errorOf(await edit(edge, 'a', 'b'))).toEqual(
    toolError('FS_STALE_VERSION', `cannot edit "${edge.at('e')}": file changed since it was read ${READ_AGAIN}`),
  )
})

test('#156 an edit without a match', async () => {
  const edge = await withTools()
  const path = edge.file('e', 'text')
  expect(errorOf(await edit(edge, 'absent', 'b'))).toEqual(toolError('FS_EDIT_NOT_FOUND', `old_string was not found in "${path}"`))
})

test('#157 a refusing decider of a write', async () => {
  const edge = await withTools()
  edge.ctx.on('fs/write-intent', async () => {
    throw new FsError('no', 'FS_NOT_OBSERVED')
  })
  expect(errorOf(await write(edge, 'x', 'new'))).toEqual(toolError('FS_NOT_OBSERVED', 'no'))
  expect(edge.tree()).toEqual([])
})

test('#158 a refusing decider of an edit', async () => {
  const edge = await withTools()
  edge.file('e', 'a')
  edge.ctx.on('fs/edit-intent', async () => {
    throw new FsError('no', 'FS_NOT_OBSERVED')
  })
  expect(errorOf(await edit(edge, 'a', 'b'))).toEqual(toolError('FS_NOT_OBSERVED', `no ${READ_FIRST}`))
  expect(edge.text('e')).toBe('a')
})

test('#159 a recorder that throws', async () => {
  const edge = await withTools()
  edge.ctx.on('fs/observed', () => {
    throw new Error('bang')
  })
  expect(errorOf(await write(edge, 'x', 'new'))).toEqual({ message: 'bang' })
  expect(edge.text('x')).toBe('new')
})

test('#160 aborted after publication', async () => {
  const edge = await withTools()
  const controller = new AbortController()
  edge.ctx.on('fs/observed', () => controller.abort())
  const result = await edge.call('write', { file_path: 'x', content: 'new' }, { signal: controller.signal })
  expect(errorOf(result)).toEqual({ message: 'tool call aborted', info: { name: 'AbortError', code: 'ABORTED' } })
  expect(edge.text('x')).toBe('new')
})

test('#161 aborted before the call', async () => {
  const edge = await withTools()
  const result = await edge.call('write', { file_path: 'x', content: 'new' }, { signal: ABORTED })
  expect(errorOf(result)).toEqual({
    message: 'tool call aborted before dispatch',
    info: { name: 'AbortError', code: 'ABORTED_BEFORE_DISPATCH' },
  })
  expect(edge.tree()).toEqual([])
})

const WIDER = { sandbox_permissions: 'danger-full-access' }
const BECAUSE = { justification: 'the task needs it' }

test('#162 an escalation without a confining provider', async () => {
  const edge = await withTools()
  edge.file('e', 'a')
  const message = 'sandbox_permissions is not available in this composition (no sandboxing filesystem to escalate)'
  expect(errorOf(await write(edge, 'x', 'new', { ...WIDER, ...BECAUSE }))).toEqual({ message })
  expect(errorOf(await edit(edge, 'a', 'b', { ...WIDER, ...BECAUSE }))).toEqual({ message })
  expect([edge.tree(), edge.text('e')]).toEqual([['e'], 'a'])
})

test('#163 an incomplete escalation', async () => {
  const edge = await withTools()
  const attempt = async (more: object) => errorOf(await write(edge, 'x', 'new', more))
  expect(await attempt(WIDER)).toEqual({ message: 'invalid escalation: sandbox_permissions requires a justification' })
  expect(await attempt(BECAUSE)).toEqual({
    message: 'invalid escalation: justification is only valid together with sandbox_permissions',
  })
  expect(await attempt({ ...WIDER, justification: ' ' })).toEqual({
    message: 'invalid justification: expected a non-empty sentence',
  })
  expect(edge.tree()).toEqual([])
})

test('#164 the cards of the calls', async () => {
  const { ctx } = await withTools()
  expect(ctx.tools.get('write')!.presentCall!({ file_path: 'o', content: 'c' })).toEqual({
    card: 'diff',
    title: 'Write o',
    diffs: [{ path: 'o', oldText: null, newText: 'c' }],
    locations: [{ path: 'o' }],
  })
  expect(ctx.tools.get('edit')!.presentCall!({ file_path: 'o', old_string: '', new_string: 'c' })).toEqual({
    card: 'diff',
    title: 'Edit o',
    diffs: [{ path: 'o', oldText: null, newText: 'c' }],
    locations: [{ path: 'o' }],
  })
})

test('#301 a CRLF file written with LF (until D12)', async () => {
  const edge = await withPolicy()
  edge.file('w', 'k\r\nl\r\n')
  textOf(await edge.call('read', { file_path: 'w' }))
  const result = await write(edge, 'w', 'k\nl\n')
  expect(edge.bytes('w')).toBe('k\nl\n')
  expect(diffsOf(result)).toEqual([])
})
