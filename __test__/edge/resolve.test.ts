/** Edge cases of target identity (contract: resolve). */
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { ABORTED, failed, fsError, raw, replaced, typed, withProvider } from './context.ts'

test('#1 relative segments of a path that does not exist', async () => {
  const edge = await withProvider()
  expect(await edge.resolve('./p//q/../r.md')).toEqual({ targetKey: edge.at('p/r.md'), displayPath: edge.at('p/r.md') })
})

test('#2 a link to a file', async () => {
  const edge = await withProvider()
  edge.file('notes.md')
  edge.link('doc', 'notes.md')
  expect(await edge.resolve('doc')).toEqual({ targetKey: edge.at('notes.md'), displayPath: edge.at('doc') })
})

test('#3 a missing path below a link to a directory', async () => {
  const edge = await withProvider()
  edge.directory('packages/core')
  edge.link('pkg', 'packages/core')
  expect(await edge.resolve('pkg/new/deep.ts')).toEqual({
    targetKey: edge.at('packages/core/new/deep.ts'),
    displayPath: edge.at('pkg/new/deep.ts'),
  })
})

test('#4 the key of a missing path stays when its directory appears', async () => {
  const edge = await withProvider()
  edge.directory('packages/core')
  edge.link('pkg', 'packages/core')
  const before = await edge.resolve('pkg/new/deep.ts')
  edge.directory('packages/core/new')
  expect((await edge.resolve('pkg/new/deep.ts')).targetKey).toBe(before.targetKey)
})

test('#5 a dangling link is its own target', async () => {
  const edge = await withProvider()
  edge.link('ghost', 'absent')
  expect(await edge.resolve('ghost')).toEqual({ targetKey: edge.at('ghost'), displayPath: edge.at('ghost') })
})

test('#6 a link to itself (D18)', async () => {
  const edge = await withProvider()
  const path = edge.link('ouro', 'ouro')
  expect(await failed(edge.resolve('ouro'))).toEqual(replaced('D18', { original: raw('ELOOP'), ours: typed('resolve', path, 'ELOOP') }))
})

test('#7 a path below a regular file', async () => {
  const edge = await withProvider()
  edge.file('leaf')
  expect(await failed(edge.resolve('leaf/inner/x'))).toMatchObject(
    fsError('FS_NOT_FOUND', `cannot resolve "${edge.at('leaf/inner/x')}": a parent path segment is not a directory`),
  )
})

test('#8 a trailing separator and a segment back after a regular file', async () => {
  const edge = await withProvider()
  const leaf = { targetKey: edge.file('leaf'), displayPath: edge.at('leaf') }
  expect(await edge.resolve('leaf/')).toEqual(leaf)
  expect(await edge.resolve('leaf/../leaf')).toEqual(leaf)
})

test('#9 a blank path', async () => {
  const edge = await withProvider()
  expect(await failed(edge.resolve(' \t '))).toEqual(fsError('FS_NOT_FOUND', 'file_path must be a non-empty string'))
})

test('#10 no expansion of a tilde', async () => {
  const edge = await withProvider()
  expect(await edge.resolve('~/.profile')).toEqual({ targetKey: edge.at('~/.profile'), displayPath: edge.at('~/.profile') })
})

test('#11 a NUL in the path (D18)', async () => {
  const edge = await withProvider()
  expect(await failed(edge.resolve('a\0b'))).toMatchObject(
    replaced<object>('D18', {
      original: { kind: 'raw', code: 'ERR_INVALID_ARG_VALUE' },
      ours: fsError('FS_IO_ERROR', `cannot resolve "${edge.at('a\0b')}": path contains a NUL byte`),
    }),
  )
})

test('#12 a component of 256 bytes (D18)', async () => {
  const edge = await withProvider()
  const path = edge.at('c'.repeat(256))
  expect(await failed(edge.resolve('c'.repeat(256)))).toEqual(
    replaced('D18', { original: raw('ENAMETOOLONG'), ours: typed('resolve', path, 'ENAMETOOLONG') }),
  )
})

test('#13 an aborted signal', async () => {
  const edge = await withProvider()
  expect(await failed(edge.fs.resolve('f', { signal: ABORTED }))).toEqual(fsError('FS_ABORTED', 'resolve aborted'))
})

test('#14 a relative base is taken from the process, not from the configuration', async () => {
  const edge = await withProvider()
  expect((await edge.fs.resolve('f', { cwd: 'no-such-sub' })).displayPath).toBe(resolve('no-such-sub', 'f'))
})
