/** Edge cases of the provider that confines (contract: sandboxing provider). The tools under it are in sandbox-tools.test.ts. */
import { linkSync, lstatSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { relative } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import type { SandboxExecutionPolicy } from '@deepseek-ai/dsh-sandbox'
import { expect, test } from 'vitest'
import { ABORTED, type Edge, failed, fsError, SandboxedProvider, type SandboxMode, Workspace } from './context.ts'
import { denied, withSandbox, write } from './sandboxed.ts'

/** A policy for one call. */
const policyOf = (edge: Edge, mode: SandboxMode, root = 'w'): SandboxExecutionPolicy => ({ mode, workspaceRoot: edge.at(root) })

test('#196 nothing is written read-only', async () => {
  const edge = await withSandbox({ mode: 'read-only' })
  edge.file('w/e', 'old')
  expect(await failed(write(edge, 'a'))).toEqual(denied(edge.at('w/a'), 'read-only'))
  expect(await failed(edge.edit('e', 'old', 'new'))).toEqual(denied(edge.at('w/e'), 'read-only'))
  expect([edge.tree(), edge.text('w/e')]).toEqual([['o/', 'w/', 'w/e'], 'old'])
})

test('#196 nothing is written read-only, whatever the default, if the call says so', async () => {
  const edge = await withSandbox({ mode: 'danger-full-access' })
  expect(await failed(write(edge, 'a', 'new', { policy: policyOf(edge, 'read-only') }))).toEqual(denied(edge.at('w/a'), 'read-only'))
  expect(edge.tree()).toEqual(['o/', 'w/'])
})

test('#197 the workspace, another directory, and one whose name begins like the workspace', async () => {
  const edge = await withSandbox()
  await write(edge, 'n/m/a')
  expect(await failed(write(edge, '../o/a'))).toEqual(denied(edge.at('o/a')))
  expect(await failed(write(edge, edge.at('w-evil/a')))).toEqual(denied(edge.at('w-evil/a')))
  expect([edge.tree(), edge.text('w/n/m/a')]).toEqual([['o/', 'w/', 'w/n/', 'w/n/m/', 'w/n/m/a'], 'new'])
})

test('#198 a link to a directory outside', async () => {
  const edge = await withSandbox()
  edge.file('o/e', 'old')
  edge.link('w/out', edge.at('o'))
  expect(await failed(write(edge, 'out/a'))).toEqual(denied(edge.at('w/out/a')))
  expect(await failed(edge.edit('out/e', 'old', 'new'))).toEqual(denied(edge.at('w/out/e')))
  expect([edge.tree(), edge.text('o/e')]).toEqual([['o/', 'o/e', 'w/', 'w/out'], 'old'])
})

test('#199 a dangling link to outside, unguarded and guarded', async () => {
  const edge = await withSandbox()
  for (const name of ['d', 'guarded']) edge.link(`w/${name}`, edge.at('o/new'))
  await write(edge, 'd')
  expect([lstatSync(edge.at('w/d')).isFile(), edge.text('w/d')]).toEqual([true, 'new'])
  const guarded = failed(write(edge, 'guarded', 'new', { intent: { kind: 'createIfAbsent' } }))
  expect(await guarded).toMatchObject(fsError('FS_NOT_REGULAR_FILE', `cannot write "${edge.at('w/guarded')}": not a regular file`))
  expect(readlinkSync(edge.at('w/guarded'))).toBe(edge.at('o/new'))
  expect(edge.tree()).toEqual(['o/', 'w/', 'w/d', 'w/guarded'])
})

test('#200 a hard link of an outside file is replaced', async () => {
  const edge = await withSandbox()
  const before = lstatSync(edge.file('o/s', 'old'))
  for (const name of ['w/h', 'w/e']) linkSync(edge.at('o/s'), edge.at(name))
  await write(edge, 'h')
  await edge.edit('e', 'old', 'edited')
  expect([edge.text('w/h'), edge.text('w/e'), edge.text('o/s')]).toEqual(['new', 'edited', 'old'])
  expect([lstatSync(edge.at('o/s')).ino, lstatSync(edge.at('w/h')).nlink]).toEqual([before.ino, 1])
  expect(edge.tree()).toEqual(['o/', 'o/s', 'w/', 'w/e', 'w/h'])
})

for (const parent of new Set(['/tmp', tmpdir()])) {
  test(`#201 a file below ${parent}`, async () => {
    const edge = await withSandbox()
    const temporary = new Workspace(parent)
    await write(edge, temporary.at('n/a'))
    await write(edge, relative(edge.at('w'), temporary.at('b')))
    expect([temporary.tree(), temporary.text('n/a'), temporary.text('b')]).toEqual([['b', 'n/', 'n/a'], 'new', 'new'])
  })
}

test('#202 a root that is a link', async () => {
  const edge = await withSandbox({ workspaceRoot: 'wl' })
  edge.link('wl', 'w')
  const policy = policyOf(edge, 'workspace-write', 'wl')
  await write(edge, edge.at('w/a'), 'direct', { policy })
  await write(edge, edge.at('wl/b'), 'through', { policy })
  await write(edge, edge.at('wl/c'), 'by default')
  expect([edge.text('w/a'), edge.text('w/b'), edge.text('w/c')]).toEqual(['direct', 'through', 'by default'])
  expect(await failed(write(edge, edge.at('wl/../o/a'), 'new', { policy }))).toEqual(denied(edge.at('o/a')))
})

test('#203 a root that does not exist', async () => {
  const edge = await withSandbox({ workspaceRoot: 'absent' })
  edge.file('w/e', 'old')
  expect(await failed(write(edge, 'a'))).toEqual(denied(edge.at('w/a')))
  expect(await failed(edge.edit('e', 'old', 'new'))).toEqual(denied(edge.at('w/e')))
  expect(edge.tree()).toEqual(['o/', 'w/', 'w/e'])
  const temporary = new Workspace()
  await write(edge, temporary.at('a'))
  expect(temporary.tree()).toEqual(['a'])
})

test('#204 full access', async () => {
  const edge = await withSandbox({ mode: 'danger-full-access', tools: true })
  await write(edge, '../o/a')
  expect([edge.text('o/a'), edge.fs.sandboxMode]).toEqual(['new', 'danger-full-access'])
  for (const tool of ['write', 'edit']) {
    expect(edge.ctx.tools.get(tool)!.parameters).toHaveProperty('properties.sandbox_permissions.enum', [
      'workspace-write',
      'danger-full-access',
    ])
    expect(edge.ctx.tools.get(tool)!.parameters).toHaveProperty('properties.justification')
  }
})

for (const mode of ['read-only', 'workspace-write', 'danger-full-access'] as const) {
  test(`#205 reading outside, ${mode}`, async () => {
    const edge = await withSandbox({ mode })
    edge.file('o/f', 'text')
    const target = await edge.resolve('../o/f')
    expect(await edge.fs.readText(target)).toBe('text')
    expect(await edge.fs.stat(target)).toMatchObject({ type: 'file', size: 4 })
    expect((await edge.fs.listDir(await edge.resolve(edge.at('o')))).map((entry) => entry.name)).toEqual(['f'])
    expect(edge.fs.sandboxMode).toBe(mode)
  })
}

test('#206 the fence comes before the abort', async () => {
  const edge = await withSandbox()
  expect(await failed(write(edge, '../o/a', 'new', { signal: ABORTED }))).toEqual(denied(edge.at('o/a')))
  expect(await failed(write(edge, 'a', 'new', { signal: ABORTED }))).toEqual(fsError('FS_ABORTED', 'write aborted'))
  expect(edge.tree()).toEqual(['o/', 'w/'])
})

test('#219 no policy service', async () => {
  const ctx = new Context()
  await Promise.race([ctx.plugin(SandboxedProvider, {}), new Promise((resolve) => setTimeout(resolve, 50))])
  expect(ctx.get('fs')).toBeUndefined()
  await ctx.fiber.dispose()
})
