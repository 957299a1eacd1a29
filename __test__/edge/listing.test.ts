/** Edge cases of directory listings (contract: listDir). */
import type { FsDirEntry } from '@deepseek-ai/dsh-fs'
import { expect, test } from 'vitest'
import { runChild } from './children.ts'
import { ABORTED, type Edge, failed, fsError, replaced, typed, Workspace, withProvider } from './context.ts'

async function list(edge: Edge, path = '.'): Promise<FsDirEntry[]> {
  return edge.fs.listDir(await edge.resolve(path))
}

/** The names in the order that a process of this locale lists them. */
async function namesIn(locale: string, names: string[]): Promise<string[]> {
  const space = new Workspace()
  for (const name of names) space.file(name)
  const env = { LC_ALL: `${locale.replace('-', '_')}.UTF-8` }
  const report = await runChild({ cwd: space.dir, steps: [{ fs: 'listDir', path: '.' }] }, { env })
  // Without full collation data another order would be right.
  expect(report.locale).toBe(locale)
  return (report.outcomes[0]!.value as FsDirEntry[]).map((entry) => entry.name)
}

test('#94 the order of names', async () => {
  expect(await namesIn('en-US', [...'Qqüv', '12', '3', '_u', '.t'])).toEqual(['_u', '.t', '12', '3', 'q', 'Q', 'ü', 'v'])
})

test('#298 the order of names in a Swedish process, and in an English one', async () => {
  expect(await namesIn('sv-SE', [...'zåäöa'])).toEqual([...'azåäö'])
  expect(await namesIn('en-US', [...'zåäöa'])).toEqual([...'aåäöz'])
})

test('#95 a broken link', async () => {
  const edge = await withProvider()
  const path = edge.link('broken', 'absent')
  expect(await list(edge)).toStrictEqual([{ name: 'broken', type: 'other', target: { targetKey: path, displayPath: path } }])
})

test('#96 a link to a directory', async () => {
  const edge = await withProvider()
  const real = edge.directory('z/real')
  const link = edge.link('lk', 'z/real')
  expect((await list(edge))[0]).toStrictEqual({
    name: 'lk',
    type: 'directory',
    target: { targetKey: real, displayPath: link },
    version: await edge.version('z/real'),
  })
})

test('#97 a link to itself (D18) (until D20)', async () => {
  const edge = await withProvider()
  edge.file('a')
  const path = edge.link('ouro', 'ouro')
  const message = expect.stringMatching(new RegExp(`^cannot list "${path}": ELOOP: too many symbolic links encountered, `))
  expect(await failed(list(edge))).toEqual(
    replaced<unknown>('D18', { original: { ...fsError('FS_IO_ERROR', '', 'ELOOP'), message }, ours: typed('list', path, 'ELOOP') }),
  )
})

test('#98 a missing directory and a regular file', async () => {
  const edge = await withProvider()
  edge.file('f')
  expect(await failed(list(edge, 'm'))).toMatchObject(fsError('FS_NOT_FOUND', `cannot list "${edge.at('m')}": not found`))
  expect(await failed(list(edge, 'f'))).toMatchObject(fsError('FS_NOT_DIRECTORY', `cannot list "${edge.at('f')}": not a directory`))
})

test('#99 an aborted signal', async () => {
  const edge = await withProvider()
  expect(await failed(edge.fs.listDir(await edge.resolve('.'), ABORTED))).toEqual(fsError('FS_ABORTED', 'list aborted'))
})
