/**
 * What a path can be that leads out of a workspace, or seems to. A refusal leaves everything below the base directory as it
 * was. The numbered cases are in sandbox.test.ts, what can be the matter with the workspace itself in workspaces.test.ts.
 */
import { linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeError, type Edge, failed, fsError, raw, replaced, typed } from './context.ts'
import { denied, parentsCannotBeMade, refused, refusedOr, refusedWrite, withSandbox, write } from './sandboxed.ts'

/** Paths of the workspace that lead to the file `o/e` outside; `<B>` is the base directory. */
const WAYS_OUT: Record<string, { path: string; make?: (edge: Edge) => void }> = {
  'segments back': { path: '../o/e' },
  'segments back after names that do not exist': { path: 'n/m/../../../o/e' },
  'an absolute path': { path: '<B>/w/../o/e' },
  'a link to a file': { path: 'l', make: (edge) => edge.link('w/l', edge.at('o/e')) },
  'a relative link': { path: 'l/e', make: (edge) => edge.link('w/l', '../o') },
  'a link deep in the workspace': {
    path: '1/2/3/out/e',
    make: (edge) => {
      edge.directory('w/1/2/3')
      edge.link('w/1/2/3/out', edge.at('o'))
    },
  },
  'a link to a link to a link': {
    path: '1',
    make: (edge) => {
      edge.link('w/1', '2')
      edge.link('w/2', 'up/o/e')
      edge.link('w/up', '..')
    },
  },
  'a link above the workspace': { path: 'up/o/e', make: (edge) => edge.link('w/up', '..') },
  'a link of the workspace into itself and out again': {
    path: 'self/self/out/e',
    make: (edge) => {
      edge.link('w/self', '.')
      edge.link('w/out', '../o')
    },
  },
  'a link outside that another directory outside is behind': {
    path: '../w-evil/e',
    make: (edge) => edge.link('w-evil', 'o'),
  },
}

for (const [name, { path, make }] of Object.entries(WAYS_OUT)) {
  test(`denied: ${name}`, async () => {
    const edge = await withSandbox()
    edge.file('o/e', 'old')
    make?.(edge)
    const target = await edge.resolve(path.replace('<B>', edge.dir))
    expect(target.targetKey).toBe(edge.at('o/e'))
    expect(await refused(edge, () => write(edge, target))).toEqual(denied(target.displayPath))
    const edit = { oldString: 'old', newString: 'new', replaceAll: false }
    expect(await refused(edge, () => edge.fs.editText(target, edit))).toEqual(denied(target.displayPath))
  })
}

test('denied: names that begin like the workspace', async () => {
  const edge = await withSandbox()
  for (const name of ['w-evil', 'w.', 'w ', 'ww', 'W']) {
    edge.directory(name)
    expect(await refusedWrite(edge, `../${name}/a`)).toEqual(denied(edge.at(name, 'a')))
  }
})

test('denied: a target that leads out only since it was resolved', async () => {
  const edge = await withSandbox()
  edge.file('w/d/e', 'old')
  edge.file('o/e', 'outside')
  const target = await edge.resolve('d/e')
  renameSync(edge.at('w/d'), edge.at('w/moved'))
  edge.link('w/d', '../o')
  expect(await refused(edge, () => write(edge, target))).toEqual(denied(edge.at('w/d/e')))
})

test('allowed: a target that led out when it was resolved', async () => {
  const edge = await withSandbox()
  edge.file('o/e', 'outside')
  edge.link('w/d', '../o')
  const target = await edge.resolve('d/e')
  rmSync(edge.at('w/d'))
  edge.file('w/d/e', 'old')
  expect(await write(edge, target)).toMatchObject({ operation: 'update', before: 'old' })
  expect([edge.text('w/d/e'), edge.text('o/e')]).toEqual(['new', 'outside'])
})

test('allowed: links that stay in the workspace or come back to it', async () => {
  const edge = await withSandbox()
  edge.directory('w/d')
  edge.link('w/in', 'd')
  edge.link('w/up', '..')
  edge.link('o/back', '../w')
  for (const [path, file] of [
    ['in/a', 'w/d/a'],
    ['up/w/b', 'w/b'],
    ['../o/back/c', 'w/c'],
  ] as const) {
    await write(edge, path)
    expect(edge.text(file)).toBe('new')
  }
  expect(edge.tree()).toEqual(['o/', 'o/back', 'w/', 'w/b', 'w/c', 'w/d/', 'w/d/a', 'w/in', 'w/up'])
})

test('a segment back after a link is lexical, so it stays inside', async () => {
  const edge = await withSandbox()
  edge.link('w/out', '../o')
  await write(edge, 'out/../a')
  expect(edge.tree()).toEqual(['o/', 'w/', 'w/a', 'w/out'])
})

test('dangling links to outside, at the end of a chain and in the middle of a path', async () => {
  const edge = await withSandbox()
  edge.link('w/chain', 'second')
  edge.link('w/second', '../o/new')
  edge.link('w/gone', '../o/gone')
  await refusedOr(edge, () => write(edge, 'chain'), ['w/chain'])
  await refusedOr(edge, () => write(edge, 'second'), ['w/second'])
  expect(await refusedWrite(edge, 'gone/deep/a')).toEqual(parentsCannotBeMade(edge.at('w/gone/deep/a')))
})

test('a path whose parent became a file', async () => {
  const edge = await withSandbox()
  const target = await edge.resolve('d/n/a')
  edge.file('w/d', 'a file')
  const noDirectory = fsError('FS_NOT_FOUND', `cannot resolve "${edge.at('w/d/n/a')}": a parent path segment is not a directory`)
  expect(await refused(edge, () => write(edge, target))).toEqual(noDirectory)
  expect(await refusedWrite(edge, 'd/n/a')).toEqual(noDirectory)
})

test('names of the longest length, and longer', async () => {
  const edge = await withSandbox()
  const [longest, longer] = ['n'.repeat(255), 'n'.repeat(256)]
  await refusedOr(edge, () => write(edge, longest), [`w/${longest}`])
  await refusedOr(edge, () => write(edge, `${'d'.repeat(255)}/a`), [`w/${'d'.repeat(255)}`, `w/${'d'.repeat(255)}/a`])
  expect(await refusedWrite(edge, `../o/${longest}`)).toEqual(denied(edge.at('o', longest)))
  expect(await refusedWrite(edge, longer)).toEqual(
    replaced('D18', { original: raw('ENAMETOOLONG'), ours: typed('resolve', edge.at('w', longer), 'ENAMETOOLONG') }),
  )
})

/** A path with a byte at its end that no UTF-8 has. */
const notText = (path: string): Buffer => Buffer.concat([Buffer.from(path), Buffer.from([0xff])])

/** Names, byte by byte, and contents below a directory. */
function bytesBelow(directory: Buffer): string[] {
  return readdirSync(directory, { withFileTypes: true, encoding: 'buffer' }).flatMap((entry) => {
    const path = Buffer.concat([directory, Buffer.from('/'), entry.name])
    if (entry.isDirectory()) return [path.toString('latin1'), ...bytesBelow(path)]
    return [`${path.toString('latin1')} ${entry.isFile() ? readFileSync(path, 'latin1') : ''}`]
  })
}

test('links to names that are not UTF-8, inside and outside', async () => {
  const edge = await withSandbox()
  for (const [name, link] of [
    ['w/d', 'w/in'],
    ['o/d', 'w/out'],
  ] as const) {
    const directory = notText(edge.at(name))
    mkdirSync(directory)
    writeFileSync(Buffer.concat([directory, Buffer.from('/e')]), 'old')
    symlinkSync(directory, edge.at(link))
  }
  const below = (name: string) => bytesBelow(Buffer.from(edge.at(name)))
  const before = { w: below('w'), o: below('o') }
  expect(await failed(write(edge, 'out/e'))).toEqual(denied(edge.at('w/out/e')))
  expect(await failed(write(edge, 'out/n/a'))).toEqual(denied(edge.at('w/out/n/a')))
  expect({ w: below('w'), o: below('o') }).toEqual(before)
  // A string cannot name the directory inside, only one that is called almost so: a write makes that, goes there, or is refused.
  const failure = await write(edge, 'in/e').then(() => undefined, describeError)
  if (failure) expect([failure.kind, below('w')]).toEqual(['FsError', before.w])
  const kept = (content: string) => below('w').includes(`${edge.at('w/d')}\xff/e ${content}`)
  expect([kept('old'), kept('new')]).toContain(true)
  expect(below('o')).toEqual(before.o)
})

test('hard links of an outside file: guarded, through a link, and unguarded', async () => {
  const edge = await withSandbox()
  edge.file('o/s', 'old')
  for (const name of ['w/guarded', 'w/linked', 'w/edited']) linkSync(edge.at('o/s'), edge.at(name))
  edge.link('w/l', 'linked')
  const before = lstatSync(edge.at('o/s'))
  await write(edge, 'guarded', 'new', { intent: { kind: 'replaceIfVersion', version: await edge.version('guarded') } })
  await write(edge, 'l')
  await edge.edit('edited', 'old', 'edited')
  expect(['guarded', 'linked', 'edited'].map((name) => edge.text(`w/${name}`))).toEqual(['new', 'new', 'edited'])
  const after = lstatSync(edge.at('o/s'))
  expect([edge.text('o/s'), after.ino, after.mtimeMs, after.nlink]).toEqual(['old', before.ino, before.mtimeMs, 1])
  expect(edge.tree()).toEqual(['o/', 'o/s', 'w/', 'w/edited', 'w/guarded', 'w/l', 'w/linked'])
})
