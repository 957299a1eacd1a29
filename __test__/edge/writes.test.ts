/** Edge cases of the provider's whole-file writes (contract: writes, publication). The fault cases are in faults.test.ts. */
import { linkSync, lstatSync, readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FsVersion, FsWriteIntent, FsWriteOutcome } from '@deepseek-ai/dsh-fs'
import { expect, test } from 'vitest'
import { runChild } from './children.ts'
import { ABORTED, type Edge, failed, fsError, OTHER_VERSION, raw, replaced, typed, Workspace, withProvider } from './context.ts'

const ABSENT: FsWriteIntent = { kind: 'createIfAbsent' }
const replace = (version: FsVersion): FsWriteIntent => ({ kind: 'replaceIfVersion', version })

async function write(edge: Edge, path: string, content: string, expected?: FsWriteIntent, signal?: AbortSignal): Promise<FsWriteOutcome> {
  return edge.fs.writeText(await edge.resolve(path), content, expected, signal)
}

const notObserved = (path: string) => fsError('FS_NOT_OBSERVED', `cannot overwrite existing "${path}" without reading it first`)
const changed = (path: string) => fsError('FS_STALE_VERSION', `cannot write "${path}": file changed since it was read`)
const notRegular = (path: string) => fsError('FS_NOT_REGULAR_FILE', `cannot write "${path}": not a regular file`)
const writeAborted = fsError('FS_ABORTED', 'write aborted')
const readAborted = fsError('FS_ABORTED', 'read aborted')

test('#42 a new file in new directories (until D7)', async () => {
  const space = new Workspace()
  const { outcomes } = await runChild({ cwd: space.dir, umask: 0o022, steps: [{ fs: 'writeText', path: 'n/e/w.txt', content: 'x' }] })
  expect(outcomes).toEqual([{ value: { operation: 'create', before: null, after: 'x', version: expect.any(String) } }])
  expect(space.text('n/e/w.txt')).toBe('x')
  expect([space.mode('n'), space.mode('n/e'), space.mode('n/e/w.txt')]).toEqual(['0755', '0755', '0600'])
})

test('#43 line endings are stored as given', async () => {
  const edge = await withProvider()
  expect((await write(edge, 'f', 'k\r\nl\rm')).after).toBe('k\nl\rm')
  expect(edge.bytes('f')).toBe('k\r\nl\rm')
})

test('#44 a guarded create over an existing file', async () => {
  const edge = await withProvider()
  const path = edge.file('f', 'old')
  expect(await failed(write(edge, 'f', 'new', ABSENT))).toMatchObject(notObserved(path))
  expect(edge.text('f')).toBe('old')
})

test('#45 a guarded replacement of a file that is gone', async () => {
  const edge = await withProvider()
  expect(await failed(write(edge, 'f', 'new', replace(OTHER_VERSION)))).toEqual(
    fsError('FS_STALE_VERSION', `cannot write "${edge.at('f')}": file no longer exists`),
  )
  expect(edge.tree()).toEqual([])
})

test('#46 a guarded replacement at another version', async () => {
  const edge = await withProvider()
  const path = edge.file('f', 'old')
  expect(await failed(write(edge, 'f', 'new', replace(OTHER_VERSION)))).toEqual(changed(path))
  expect(edge.text('f')).toBe('old')
})

test('#47 a directory, whatever the guard', async () => {
  const edge = await withProvider()
  const path = edge.directory('g')
  for (const expected of [undefined, ABSENT, replace(OTHER_VERSION)]) {
    expect(await failed(write(edge, 'g', 'x', expected))).toEqual(notRegular(path))
  }
})

test('#48 a guarded create at a dangling link', async () => {
  const edge = await withProvider()
  const path = edge.link('ghost', 'absent')
  expect(await failed(write(edge, 'ghost', 'x', ABSENT))).toMatchObject(notRegular(path))
  expect(readlinkSync(path)).toBe('absent')
  expect(edge.tree()).toEqual(['ghost'])
})

test('#49 an unguarded write at a dangling link replaces the link', async () => {
  const edge = await withProvider()
  const path = edge.link('ghost', 'absent')
  expect((await write(edge, 'ghost', 'x')).operation).toBe('create')
  expect(lstatSync(path).isFile()).toBe(true)
  expect(edge.tree()).toEqual(['ghost'])
})

test('#50 a write below a dangling link to a directory (D18)', async () => {
  const edge = await withProvider()
  edge.link('gd', 'nodir')
  expect(await failed(write(edge, 'gd/x', 'x'))).toEqual(
    replaced('D18', { original: raw('ENOENT', /^ENOENT: .* mkdir /), ours: typed('write', edge.at('gd/x'), 'ENOENT') }),
  )
  expect(edge.tree()).toEqual(['gd'])
})

test('#51 a write through a link', async () => {
  const edge = await withProvider()
  edge.file('data.txt', 'old')
  const link = edge.link('cur', 'data.txt')
  await write(edge, 'cur', 'new')
  expect(edge.text('data.txt')).toBe('new')
  expect(readlinkSync(link)).toBe('data.txt')
})

test('#52 the mode of the replaced file, without special bits (until D4)', async () => {
  const edge = await withProvider()
  edge.file('plain', 'old', 0o754)
  edge.file('special', 'old', 0o4711)
  await write(edge, 'plain', 'new')
  await write(edge, 'special', 'new')
  expect([edge.mode('plain'), edge.mode('special')]).toEqual(['0754', '0711'])
})

test('#53 a write-protected file (until D6)', async () => {
  const edge = await withProvider()
  edge.file('f', 'old', 0o444)
  await write(edge, 'f', 'new')
  expect([edge.text('f'), edge.mode('f')]).toEqual(['new', '0444'])
})

test('#54 one of two hard links (until D5)', async () => {
  const edge = await withProvider()
  linkSync(edge.file('f', 'old'), edge.at('g'))
  await write(edge, 'f', 'new')
  expect([edge.text('f'), edge.text('g')]).toEqual(['new', 'old'])
  expect(statSync(edge.at('f')).nlink).toBe(1)
})

test('#55 the same content is written again', async () => {
  const edge = await withProvider()
  const path = edge.file('f', 'same')
  const before = { ino: statSync(path).ino, version: await edge.version('f') }
  const outcome = await write(edge, 'f', 'same')
  expect(outcome).toEqual({ operation: 'update', before: 'same', after: 'same', version: await edge.version('f') })
  expect(outcome.version).not.toBe(before.version)
  expect(statSync(path).ino).not.toBe(before.ino)
})

test('#56 a lone surrogate (until D15)', async () => {
  const edge = await withProvider()
  expect((await write(edge, 'f', 'u\uD83Dv')).after).toBe('u\uD83Dv')
  expect(edge.bytes('f')).toBe('u\xEF\xBF\xBDv')
})

test('#57 a NUL is written, and not read again', async () => {
  const edge = await withProvider()
  await write(edge, 'f', 'p\0q')
  expect(edge.bytes('f')).toBe('p\0q')
  expect(await failed(edge.fs.readText(await edge.resolve('f')))).toEqual(
    fsError('FS_NOT_TEXT', `cannot read "${edge.at('f')}": binary file`),
  )
})

test('#58 the byte-order mark of the old file', async () => {
  const edge = await withProvider()
  edge.file('f', '\uFEFF1')
  expect((await write(edge, 'f', '2')).before).toBe('1')
  expect(edge.bytes('f')).toBe('2')
})

test('#59 old content that is not text', async () => {
  const edge = await withProvider()
  edge.file('latin', Uint8Array.of(0x63, 0xe9))
  edge.file('nul', `${'-'.repeat(9000)}\0`)
  for (const name of ['latin', 'nul']) {
    expect(await write(edge, name, 'new')).toMatchObject({ operation: 'update', before: null, after: 'new' })
    expect(edge.text(name)).toBe('new')
  }
})

test('#60 the limit of the old text, in bytes, exclusive, on both sides', async () => {
  const edge = await withProvider({ diffBasisMaxBytes: 6 })
  const before = async (old: string, content: string): Promise<string | null> => {
    edge.file('f', old)
    return (await write(edge, 'f', content)).before
  }
  expect(await before('12345', 'abcde')).toBe('12345')
  expect(await before('12345', 'abcdef')).toBeNull()
  expect(await before('123456', 'abcde')).toBeNull()
  expect(await before('1', 'ééé')).toBeNull()
})

test('#61 an aborted signal', async () => {
  const edge = await withProvider({ diffBasisMaxBytes: 4 })
  edge.file('f', 'old')
  expect(await failed(write(edge, 'new', 'x', undefined, ABORTED))).toEqual(writeAborted)
  expect(await failed(write(edge, 'f', 'x', undefined, ABORTED))).toEqual(readAborted)
  expect(await failed(write(edge, 'f', 'xxxx', undefined, ABORTED))).toEqual(writeAborted)
  expect(edge.tree()).toEqual(['f'])
  expect(edge.text('f')).toBe('old')
})

test('#62 a failing guard comes before an aborted signal', async () => {
  const edge = await withProvider()
  const path = edge.file('f', 'old')
  expect(await failed(write(edge, 'f', 'x', ABSENT, ABORTED))).toMatchObject(notObserved(path))
  expect(await failed(write(edge, 'f', 'x', replace(OTHER_VERSION), ABORTED))).toEqual(changed(path))
})

test('#63 aborted while 200 MB are being staged', async () => {
  const edge = await withProvider()
  const target = await edge.resolve('big')
  const controller = new AbortController()
  const staging = failed(edge.fs.writeText(target, 'x'.repeat(200_000_000), undefined, controller.signal))
  // Staged content is on its way once something beside the target has a size.
  const started = (): boolean =>
    readdirSync(edge.dir, { recursive: true, withFileTypes: true }).some(
      (entry) => entry.isFile() && (statSync(`${entry.parentPath}/${entry.name}`, { throwIfNoEntry: false })?.size ?? 0) > 0,
    )
  while (!started()) await sleep(1)
  controller.abort()
  expect(await staging).toEqual(writeAborted)
  expect(edge.tree()).toEqual([])
})

test('#71 the longest name whose staging directory can be made (D18) (until D8)', async () => {
  const edge = await withProvider()
  const longest = 'n'.repeat(209 - String(process.pid).length)
  await write(edge, longest, 'x')
  expect(edge.tree()).toEqual([longest])
  const longer = `${longest}n`
  expect(await failed(write(edge, longer, 'x'))).toEqual(
    replaced('D18', { original: raw('ENAMETOOLONG'), ours: typed('write', edge.at(longer), 'ENAMETOOLONG') }),
  )
  expect(edge.tree()).toEqual([longest])
})

test('#72 three guarded writes at one version', async () => {
  const edge = await withProvider()
  const path = edge.file('f', 'old')
  const target = await edge.resolve('f')
  const expected = replace(await edge.version('f'))
  const calls = ['1', '2', '3'].map((content) => edge.fs.writeText(target, content, expected))
  const losers = calls.slice(1).map(failed)
  expect(await calls[0]).toMatchObject({ operation: 'update', before: 'old', after: '1' })
  expect(await Promise.all(losers)).toEqual([changed(path), changed(path)])
  expect(edge.text('f')).toBe('1')
})

test('#72 three writes at once follow one another in the order of their calls', async () => {
  const edge = await withProvider()
  edge.file('f', 'old')
  const target = await edge.resolve('f')
  const outcomes = await Promise.all(['1', '2', '3'].map((content) => edge.fs.writeText(target, content)))
  expect(outcomes.map((outcome) => outcome.before)).toEqual(['old', '1', '2'])
  expect(edge.text('f')).toBe('3')
})

test('#72 their promises settle in that order too', async () => {
  const edge = await withProvider()
  const path = edge.file('f', 'old')
  const target = await edge.resolve('f')
  // A wrong order shows only now and then.
  for (let round = 0; round < 50; round++) {
    writeFileSync(path, 'old')
    const expected = replace(await edge.version('f'))
    const settled: string[] = []
    const calls = ['1', '2', '3'].map((content) => edge.fs.writeText(target, content, expected).finally(() => settled.push(content)))
    expect((await Promise.allSettled(calls)).map((call) => call.status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(settled, `round ${round}`).toEqual(['1', '2', '3'])
  }
})

test('#311 aborted while waiting for the lock (D10)', async () => {
  const edge = await withProvider()
  const target = await edge.resolve('f')
  const order: string[] = []
  const settled = <T>(name: string, call: Promise<T>): Promise<T> => call.finally(() => order.push(name))
  // Long enough in the making that the others find the lock taken.
  const holder = settled('holder', edge.fs.writeText(target, 'h'.repeat(100_000_000)))
  const edit = { oldString: 'h', newString: 'i', replaceAll: true }
  const controller = new AbortController()
  const write = settled('write', failed(edge.fs.writeText(target, 'x', ABSENT, controller.signal)))
  const change = settled('edit', failed(edge.fs.editText(target, edit, undefined, controller.signal)))
  await sleep(5)
  controller.abort()
  expect(await write).toMatchObject(replaced('D10', { original: notObserved(edge.at('f')), ours: writeAborted }))
  expect(await change).toEqual(fsError('FS_ABORTED', 'edit aborted'))
  expect((await holder).operation).toBe('create')
  expect(order).toHaveLength(3)
  expect(order.indexOf('holder')).toBe(replaced('D10', { original: 0, ours: 2 }))
  expect(statSync(edge.at('f')).size).toBe(100_000_000)
})
