/**
 * What can be the matter with a workspace itself: where it lies, how its root is named, what becomes of it, and that it
 * cannot be written. Some of these need another user or a mount, which only a child process can have.
 */
import { chmodSync, chownSync, rmSync } from 'node:fs'
import { relative } from 'node:path'
import { expect, test } from 'vitest'
import { openOutsideTemporary } from '../outside-temp.ts'
import type { Outcome, Step } from './child.ts'
import { type ChildOptions, inMountNamespace, runChild } from './children.ts'
import { Edge, fsError, raw, replaced, typed, type Workspace } from './context.ts'
import {
  confinedSpace,
  denied,
  mountSandbox,
  parentsCannotBeMade,
  refused,
  refusedOr,
  refusedWrite,
  withSandbox,
  write,
} from './sandboxed.ts'

const parentIsFile = (path: string) => fsError('FS_NOT_FOUND', `cannot resolve "${path}": a parent path segment is not a directory`)

test('a root that vanished', async () => {
  const edge = await withSandbox()
  const target = await edge.resolve('n/a')
  rmSync(edge.at('w'), { recursive: true })
  expect(await refusedWrite(edge, '../o/a')).toEqual(denied(edge.at('o/a')))
  await refusedOr(edge, () => write(edge, target), ['w', 'w/n', 'w/n/a'])
})

test('a root whose place a file has taken', async () => {
  const edge = await withSandbox()
  const target = await edge.resolve('a')
  rmSync(edge.at('w'), { recursive: true })
  edge.file('w', 'a file')
  expect(await refused(edge, () => write(edge, target))).toEqual(parentIsFile(edge.at('w/a')))
  expect(await refusedWrite(edge, '../o/a')).toEqual(denied(edge.at('o/a')))
})

test('a root that is the end of a chain of links', async () => {
  const edge = new Edge(openOutsideTemporary())
  edge.directory('real/w')
  edge.directory('real/o')
  edge.link('first', 'second')
  edge.link('second', 'real/w')
  await mountSandbox(edge, { workspaceRoot: 'first', cwd: 'first' })
  await write(edge, 'a')
  await write(edge, edge.at('real/w/b'))
  // Beside the link, and beside the directory that it means.
  expect(await refusedWrite(edge, '../a')).toEqual(denied(edge.at('a')))
  expect(await refusedWrite(edge, edge.at('real/o/a'))).toEqual(denied(edge.at('real/o/a')))
  expect(edge.tree()).toEqual(['first', 'real/', 'real/o/', 'real/w/', 'real/w/a', 'real/w/b', 'second'])
})

test('a root that is a link, which leads elsewhere at the next call', async () => {
  const edge = await withSandbox({ workspaceRoot: 'wl' })
  edge.directory('v')
  const policy = { mode: 'workspace-write', workspaceRoot: edge.at('wl') } as const
  edge.link('wl', 'w')
  await write(edge, edge.at('wl/a'), 'new', { policy })
  rmSync(edge.at('wl'))
  edge.link('wl', 'v')
  await write(edge, edge.at('wl/a'), 'new', { policy })
  expect(await refused(edge, () => write(edge, edge.at('w/a'), 'newer', { policy }))).toEqual(denied(edge.at('w/a')))
  expect(edge.tree()).toEqual(['o/', 'v/', 'v/a', 'w/', 'w/a', 'wl'])
})

test('a workspace in the directory for temporary files', async () => {
  const outside = await withSandbox()
  const edge = new Edge()
  edge.directory('w')
  edge.directory('beside')
  await mountSandbox(edge, {})
  await write(edge, 'a')
  await write(edge, '../beside/a')
  edge.link('w/out', outside.at('o'))
  for (const path of ['out/a', relative(edge.at('w'), outside.at('o/a'))]) {
    const { displayPath } = await edge.resolve(path)
    expect(await refusedWrite(edge, path)).toEqual(denied(displayPath))
  }
  expect(edge.tree()).toEqual(['beside/', 'beside/a', 'w/', 'w/a', 'w/out'])
  expect(outside.tree()).toEqual(['o/', 'w/'])
})

/** Plays steps in a child that is confined to the workspace. */
async function play(space: Workspace, steps: Step[], options: ChildOptions & { user?: number } = {}): Promise<Outcome[]> {
  const { user, ...rest } = options
  const sandbox = { mode: 'workspace-write', workspaceRoot: space.at('w') } as const
  return (await runChild({ cwd: space.at('w'), sandbox, steps, ...(user === undefined ? {} : { user }) }, rest)).outcomes
}

const create = (path: string): Step => ({ fs: 'writeText', path, content: 'new' })
const created = { value: { operation: 'create', before: null, after: 'new', version: expect.any(String) } }

const USER = 65534

test('a root that an ordinary user may not change', async () => {
  if (process.getuid?.() !== 0) throw new Error('this case needs two users: run it as the superuser')
  const space = confinedSpace()
  chmodSync(space.dir, 0o755)
  space.file('w/e', 'old')
  for (const name of ['w', 'w/e', 'o']) chownSync(space.at(name), USER, USER)
  chmodSync(space.at('w'), 0o555)
  const refusal = (path: string) => ({
    failed: replaced('D18', { original: raw('EACCES', /^EACCES: .* mkdir /), ours: typed('write', space.at(path), 'EACCES') }),
  })
  expect(await play(space, [create('a'), create('n/a'), create('../o/a')], { user: USER })).toEqual([
    refusal('w/a'),
    refusal('w/n/a'),
    { failed: denied(space.at('o/a')) },
  ])
  expect(space.tree()).toEqual(['o/', 'w/', 'w/e'])
})

test('a root that is mounted for reading only', async () => {
  const space = confinedSpace()
  space.file('w/e', 'old')
  const wrap = inMountNamespace('mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"', space.at('w'))
  const edit: Step = { fs: 'editText', path: 'e', oldString: 'old', newString: 'new' }
  const readOnly = (verb: 'write' | 'edit', path: string) => ({
    failed: replaced('D18', { original: raw('EROFS', /^EROFS: .* mkdir /), ours: typed(verb, space.at(path), 'EROFS') }),
  })
  expect(await play(space, [create('a'), create('n/a'), edit, { fs: 'readText', path: 'e' }, create('../o/a')], { wrap })).toEqual([
    readOnly('write', 'w/a'),
    { failed: parentsCannotBeMade(space.at('w/n/a')) },
    readOnly('edit', 'w/e'),
    { value: 'old' },
    { failed: denied(space.at('o/a')) },
  ])
  expect([space.tree(), space.text('w/e')]).toEqual([['o/', 'w/', 'w/e'], 'old'])
})

for (const [name, mounted, path] of [
  ['a root on a file system of its own', 'w', 'n/a'],
  ['a file system that is mounted in the workspace', 'w/m', 'm/n/a'],
] as const) {
  test(name, async () => {
    const space = confinedSpace()
    space.directory(mounted)
    space.file('o/s', 'outside')
    const wrap = inMountNamespace('mount -t tmpfs none "$0" && ln -s "$1" "$0/out"', space.at(mounted), space.at('o'))
    const out = path.replace('n/a', 'out/s')
    const steps: Step[] = [
      create(path),
      { fs: 'editText', path, oldString: 'new', newString: 'edited' },
      { fs: 'readText', path },
      { fs: 'listDir', path: path.replace('/a', '') },
      create(out),
      create('../o/a'),
    ]
    expect(await play(space, steps, { wrap })).toEqual([
      created,
      { value: expect.objectContaining({ before: 'new', after: 'edited' }) },
      { value: 'edited' },
      { value: [expect.objectContaining({ name: 'a', type: 'file' })] },
      { failed: denied(space.at('w', out)) },
      { failed: denied(space.at('o/a')) },
    ])
    // All of it was on that file system, which is gone.
    expect(space.tree()).toEqual(['o/', 'o/s', 'w/', ...(mounted === 'w' ? [] : ['w/m/'])])
    expect(space.text('o/s')).toBe('outside')
  })
}
