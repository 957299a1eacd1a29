/**
 * Edge cases of permissions (contract: system errors, publication). The calls are made by a child process that has become
 * another user; only the superuser can start one, and elsewhere these tests fail.
 */
import { chmodSync, chownSync, statSync } from 'node:fs'
import { beforeEach, expect, test } from 'vitest'
import type { Outcome, Step } from './child.ts'
import { runChild } from './children.ts'
import { fsError, raw, replaced, typed, Workspace, withProvider } from './context.ts'

/** The user and group of the child, and another that is neither it nor the superuser. */
const USER = 65534
const OTHER = 4321

let space: Workspace
beforeEach(() => {
  if (process.getuid?.() !== 0) throw new Error('these cases need two users: run them as the superuser')
  space = new Workspace()
  chmodSync(space.dir, 0o755)
})

/** A file of another user. */
function foreign(name: string, content: string, mode: number): string {
  const path = space.file(name, content, mode)
  chownSync(path, OTHER, OTHER)
  return path
}

/** A directory of the child's user. */
function own(name: string): string {
  const path = space.directory(name)
  chownSync(path, USER, USER)
  return path
}

async function asUser(...steps: Step[]): Promise<Outcome[]> {
  return (await runChild({ cwd: space.dir, user: USER, steps })).outcomes
}

const ownerOf = (path: string): number[] => [statSync(path).uid, statSync(path).gid]

test('#285 a file that nobody may read (D18)', async () => {
  const path = foreign('f', 'text', 0)
  const outcomes = await asUser(
    { fs: 'readText', path: 'f' },
    { fs: 'streamText', path: 'f' },
    { fs: 'readBytes', path: 'f' },
    { fs: 'editText', path: 'f', oldString: 'text', newString: 'x' },
  )
  const denied = raw('EACCES', new RegExp(`^EACCES: permission denied, open '${path}'$`))
  const expected = (verb: 'read' | 'edit') => ({ failed: replaced('D18', { original: denied, ours: typed(verb, path, 'EACCES') }) })
  expect(outcomes).toEqual([expected('read'), expected('read'), expected('read'), expected('edit')])
})

test('#286 a writable file in a directory that is not (D18) (until D5)', async () => {
  const path = foreign('d/f', 'old', 0o666)
  const denied = raw('EACCES', new RegExp(`^EACCES: permission denied, mkdir '${space.at('d')}/\\.f\\.\\d+\\.[0-9a-f-]{36}\\.tmpdir'$`))
  expect(await asUser({ fs: 'writeText', path: 'd/f', content: 'new' })).toEqual([
    { failed: replaced('D18', { original: denied, ours: typed('write', path, 'EACCES') }) },
  ])
  expect([space.text('d/f'), space.tree()]).toEqual(['old', ['d/', 'd/f']])
})

test("#287 another user's private file in an own directory (until D6)", async () => {
  own('d')
  const path = foreign('d/f', 'old', 0o600)
  const [outcome] = await asUser({ fs: 'writeText', path: 'd/f', content: 'new' })
  expect(outcome).toEqual({ value: { operation: 'update', before: null, after: 'new', version: expect.any(String) } })
  expect([space.text('d/f'), space.mode('d/f'), ownerOf(path)]).toEqual(['new', '0600', [USER, USER]])
})

test("#288 another user's readable file in an own directory (until D6)", async () => {
  own('d')
  const path = foreign('d/f', 'old', 0o644)
  const [outcome] = await asUser({ fs: 'writeText', path: 'd/f', content: 'new' })
  expect(outcome).toEqual({ value: { operation: 'update', before: 'old', after: 'new', version: expect.any(String) } })
  expect([space.text('d/f'), space.mode('d/f'), ownerOf(path)]).toEqual(['new', '0644', [USER, USER]])
})

test("#289 another user's writable file in a sticky directory (D18) (until D5)", async () => {
  chmodSync(space.directory('d'), 0o1777)
  const path = foreign('d/f', 'old', 0o666)
  expect(await asUser({ fs: 'writeText', path: 'd/f', content: 'new' })).toEqual([
    { failed: replaced('D18', { original: raw('EPERM', /^EPERM: .* rename /), ours: typed('write', path, 'EPERM') }) },
  ])
  expect([space.text('d/f'), space.tree()]).toEqual(['old', ['d/', 'd/f']])
})

test('#290 a path below a directory that cannot be searched (D18)', async () => {
  space.file('locked/f')
  chmodSync(space.at('locked'), 0o700)
  expect(await asUser({ fs: 'resolve', path: 'locked/f' })).toEqual([
    {
      failed: replaced('D18', {
        original: raw('EACCES', /^EACCES: .* realpath /),
        ours: typed('resolve', space.at('locked/f'), 'EACCES'),
      }),
    },
  ])
})

test('#291 a listing without the right to read, and without the right to search', async () => {
  space.file('unreadable/a')
  space.file('unsearchable/a')
  space.file('unsearchable/b')
  chmodSync(space.at('unreadable'), 0o711)
  chmodSync(space.at('unsearchable'), 0o744)
  const denied = (path: string) => ({ failed: fsError('FS_PERMISSION_DENIED', `cannot list "${path}": permission denied`, 'EACCES') })
  expect(await asUser({ fs: 'listDir', path: 'unreadable' }, { fs: 'listDir', path: 'unsearchable' })).toEqual([
    denied(space.at('unreadable')),
    denied(space.at('unsearchable/a')),
  ])
})

test("#293 another user's file written by the superuser (until D4)", async () => {
  const edge = await withProvider()
  const path = edge.file('f', 'old')
  chownSync(path, 1234, 5678)
  await edge.fs.writeText(await edge.resolve('f'), 'new')
  expect([edge.text('f'), ownerOf(path)]).toEqual(['new', [0, 0]])
})
