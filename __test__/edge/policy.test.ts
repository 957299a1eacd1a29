/** Edge cases of the observation policy together with the tools (contract: policy). */
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import type { ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { expect, test } from 'vitest'
import { type Agent, agentIn, Edge, envelope, errorOf, policy, textOf, toolError, withPolicy } from './context.ts'

type By = { agent?: Agent | undefined }
const read = (edge: Edge, file_path: string, by: By = {}, more: object = {}): Promise<ToolExecutionResult> =>
  edge.call('read', { file_path, ...more }, by)
const write = (edge: Edge, file_path: string, content: string, by: By = {}): Promise<ToolExecutionResult> =>
  edge.call('write', { file_path, content }, by)
const edit = (edge: Edge, file_path: string, old_string: string, new_string: string, by: By = {}): Promise<ToolExecutionResult> =>
  edge.call('edit', { file_path, old_string, new_string }, by)

const READ_FIRST = '— read the file, then retry'
const READ_AGAIN = '— re-read the file, then retry'
const notRead = (path: string) => toolError('FS_NOT_OBSERVED', `edit requires reading "${path}" first ${READ_FIRST}`)
const exists = (path: string) => toolError('FS_NOT_OBSERVED', `cannot overwrite existing "${path}" without reading it first ${READ_FIRST}`)

test('#172 an edit of a path never seen', async () => {
  const edge = await withPolicy()
  expect(errorOf(await edit(edge, 'v', 'a', 'b'))).toEqual(notRead(edge.at('v')))
  edge.file('v', 'a')
  expect(errorOf(await edit(edge, 'v', 'a', 'b'))).toEqual(notRead(edge.at('v')))
  expect(edge.text('v')).toBe('a')
})

test('#173 a file read as missing', async () => {
  const edge = await withPolicy()
  errorOf(await read(edge, 'v'))
  expect(errorOf(await edit(edge, 'v', 'a', 'b'))).toEqual(toolError('FS_NOT_FOUND', `cannot edit "${edge.at('v')}": not found`))
  expect(textOf(await write(edge, 'v', 'a'))).toBe(envelope(edge.at('v'), 'Created file'))
})

test('#174 a file deleted after it was read', async () => {
  const edge = await withPolicy()
  const path = edge.file('v', 'a')
  textOf(await read(edge, 'v'))
  rmSync(path)
  expect(errorOf(await write(edge, 'v', 'b'))).toEqual(
    toolError('FS_STALE_VERSION', `cannot write "${path}": file no longer exists ${READ_AGAIN}`),
  )
  expect(errorOf(await read(edge, 'v'))).toEqual(toolError('FS_NOT_FOUND', `cannot read "${path}": not found`))
  expect(textOf(await write(edge, 'v', 'b'))).toBe(envelope(path, 'Created file'))
})

test('#175 one line seen, the whole file overwritten', async () => {
  const edge = await withPolicy()
  const path = edge.file('v', 'line\n'.repeat(5000))
  textOf(await read(edge, 'v', {}, { limit: 1 }))
  expect(textOf(await write(edge, 'v', 'short'))).toBe(envelope(path, 'Updated file'))
})

test('#176 read through a link, edited by its own name', async () => {
  const edge = await withPolicy()
  edge.file('v', 'a')
  edge.link('al', 'v')
  textOf(await read(edge, 'al'))
  textOf(await edit(edge, 'v', 'a', 'b'))
  expect(edge.text('v')).toBe('b')
})

test('#177 a link that leads elsewhere after the read', async () => {
  const edge = await withPolicy()
  edge.file('one', '1')
  edge.file('two', '2')
  const link = edge.link('al', 'one')
  textOf(await read(edge, 'al'))
  rmSync(link)
  edge.link('al', 'two')
  expect(errorOf(await write(edge, 'al', 'new'))).toEqual(exists(link))
  expect([edge.text('one'), edge.text('two')]).toEqual(['1', '2'])
})

test('#178 another session', async () => {
  const edge = await withPolicy()
  const path = edge.file('v', 'a')
  textOf(await read(edge, 'v'))
  expect(errorOf(await edit(edge, 'v', 'a', 'b', { agent: agentIn(edge.dir) }))).toEqual(notRead(path))
})

test('#179 calls without an agent', async () => {
  const edge = await withPolicy()
  const nobody = { agent: undefined }
  expect(textOf(await write(edge, 'v', 'a', nobody))).toBe(envelope(edge.at('v'), 'Created file'))
  textOf(await read(edge, 'v', nobody))
  expect(errorOf(await write(edge, 'v', 'b', nobody))).toEqual(exists(edge.at('v')))
  expect(errorOf(await edit(edge, 'v', 'a', 'b', nobody))).toEqual(notRead(edge.at('v')))
  expect(edge.text('v')).toBe('a')
})

test('#180 a mode changed after the read (until D1)', async () => {
  const edge = await withPolicy()
  const path = edge.file('v', 'a', 0o644)
  textOf(await read(edge, 'v'))
  chmodSync(path, 0o600)
  expect(errorOf(await edit(edge, 'v', 'a', 'b'))).toEqual(
    toolError('FS_STALE_VERSION', `cannot edit "${path}": file changed since it was read ${READ_AGAIN}`),
  )
})

test('#181 a file in another encoding', async () => {
  const edge = await withPolicy()
  const path = edge.file('v', Uint8Array.of(0x63, 0x61, 0x66, 0xe9))
  expect(errorOf(await read(edge, 'v'))).toEqual(toolError('FS_NOT_TEXT', `cannot read "${path}": invalid UTF-8 text`))
  expect(errorOf(await write(edge, 'v', 'new'))).toEqual(exists(path))
  expect(edge.bytes('v')).toBe('caf\xE9')
})

test('#182 the policy unloaded and loaded again', async () => {
  const edge = await Edge.with({ tools: {} })
  const loaded = await edge.ctx.plugin(policy)
  const seen = edge.file('seen', 'a')
  textOf(await read(edge, 'seen'))
  await loaded.dispose()
  edge.file('unseen', 'a')
  textOf(await edit(edge, 'unseen', 'a', 'b'))
  textOf(await write(edge, 'unseen', 'c'))
  expect(edge.text('unseen')).toBe('c')
  await edge.ctx.plugin(policy)
  expect(errorOf(await write(edge, 'seen', 'b'))).toEqual(exists(seen))
  expect(errorOf(await edit(edge, 'seen', 'a', 'b'))).toEqual(notRead(seen))
})

test('#183 another decider before and after the policy', async () => {
  const edge = await withPolicy()
  const path = edge.file('v', 'old')
  const asked: string[] = []
  const decider = (place: string) => async () => {
    asked.push(place)
    return undefined
  }
  edge.ctx.on('fs/write-intent', decider('after'))
  expect(errorOf(await write(edge, 'v', 'new'))).toEqual(exists(path))
  expect(asked).toEqual([])
  edge.ctx.on('fs/write-intent', decider('before'), true)
  expect(textOf(await write(edge, 'v', 'new'))).toBe(envelope(path, 'Updated file'))
  expect(asked).toEqual(['before'])
  writeFileSync(path, 'changed')
  textOf(await write(edge, 'v', 'newer'))
  expect(edge.text('v')).toBe('newer')
})
