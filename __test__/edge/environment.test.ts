/** Edge cases of sizes and special files (contract: reads, system errors). The locale is in listing.test.ts. */
import { closeSync, openSync, truncateSync, writeSync } from 'node:fs'
import { expect, test } from 'vitest'
import { inMountNamespace, runChild } from './children.ts'
import { type Edge, failed, fsError, raw, replaced, TARGET, textOf, typed, Workspace, withProvider, withTools } from './context.ts'

test('#294 a file that is a bind mount (D18) (until D5)', async () => {
  const space = new Workspace()
  const path = space.file('f', 'old')
  const source = space.file('source', 'old')
  const wrap = inMountNamespace('mount --bind "$0" "$1"', source, path)
  const { outcomes } = await runChild({ cwd: space.dir, steps: [{ fs: 'writeText', path: 'f', content: 'new' }] }, { wrap })
  expect(outcomes).toEqual([
    { failed: replaced('D18', { original: raw('EBUSY', /^EBUSY: .* rename /), ours: typed('write', path, 'EBUSY') }) },
  ])
  expect([space.text('source'), space.tree()]).toEqual(['old', ['f', 'source']])
})

const LIMIT = 536_870_888
const CHUNK = Buffer.alloc(8 * 1024 * 1024, 'a')

/** A file that starts as text, with a hole for the rest: a NUL is ASCII too, and counts only in the first 8192 bytes. */
function sparse(edge: Edge, size: number): string {
  const path = edge.file('f', CHUNK.subarray(0, 8192))
  truncateSync(path, size)
  return path
}

/** The same size without a NUL, for the original, whose edits look for one everywhere. */
function full(edge: Edge, size: number): void {
  const file = openSync(edge.at('f'), 'w')
  for (let left = size; left > 0; left -= CHUNK.length) writeSync(file, CHUNK, 0, Math.min(left, CHUNK.length))
  closeSync(file)
}

const readText = async (edge: Edge) => failed(edge.fs.readText(await edge.resolve('f')))
const tooLong = (verb: 'read' | 'edit', path: string) =>
  fsError('FS_TOO_LARGE', `cannot ${verb} "${path}": content exceeds the ${LIMIT}-character limit`)

test('#296 one character more than a string can have (D18)', { timeout: 60_000 }, async () => {
  const edge = await withProvider()
  const path = sparse(edge, LIMIT + 1)
  const original = { kind: 'raw', code: 'ERR_STRING_TOO_LONG' }
  expect(await readText(edge)).toMatchObject(replaced<object>('D18', { original, ours: tooLong('read', path) }))
  if (TARGET === 'original') full(edge, LIMIT + 1)
  expect(await failed(edge.edit('f', 'b', 'c'))).toMatchObject(replaced<object>('D18', { original, ours: tooLong('edit', path) }))
})

test('#297 more than 2 GiB (D18)', { timeout: 60_000 }, async () => {
  const edge = await withProvider()
  const path = sparse(edge, 2 ** 31 + 1)
  const original = { kind: 'raw', code: 'ERR_FS_FILE_TOO_LARGE' }
  expect(await readText(edge)).toMatchObject(replaced<object>('D18', { original, ours: tooLong('read', path) }))
  expect(await failed(edge.edit('f', 'b', 'c'))).toMatchObject(replaced<object>('D18', { original, ours: tooLong('edit', path) }))
})

test('#299 a file of the kernel that has size 0', async () => {
  const edge = await withTools()
  expect(await edge.info('/proc/self/stat')).toMatchObject({ size: 0 })
  expect(textOf(await edge.call('read', { file_path: '/proc/self/stat' }))).toContain(`\n1: ${process.pid} (`)
})
