/** Edge cases of stat, lstat, versions and the path helpers (contract: stat, lstat, versions). */
import { chmodSync, linkSync, statSync } from 'node:fs'
import { isProxy } from 'node:util/types'
import { expect, test } from 'vitest'
import { Edge, Provider, targetOf, withProvider } from './context.ts'

test('#15 the parts of a version', async () => {
  const edge = await withProvider()
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(edge.file('f', 'four'), { bigint: true })
  expect(await edge.info('f')).toEqual({ type: 'file', size: 4, version: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}` })
})

test('#16 a directory has a version and a size', async () => {
  const edge = await withProvider()
  expect(await edge.info('.')).toEqual({ type: 'directory', version: expect.stringMatching(/^\d+(:\d+){4}$/), size: expect.any(Number) })
})

test('#17 a device', async () => {
  const edge = await withProvider()
  expect(await edge.info('/dev/zero')).toMatchObject({ type: 'other', size: 0 })
})

test('#18 stat of a dangling link', async () => {
  const edge = await withProvider()
  edge.link('ghost', 'absent')
  expect(await edge.fs.stat(await edge.resolve('ghost'))).toBeUndefined()
})

test('#19 lstat of a dangling link', async () => {
  const edge = await withProvider()
  edge.link('ghost', 'absént')
  expect(await edge.fs.lstat('ghost')).toMatchObject({ type: 'symlink', size: Buffer.byteLength('absént') })
})

test('#20 lstat below a regular file', async () => {
  const edge = await withProvider()
  edge.file('leaf')
  expect(await edge.fs.lstat('leaf/x')).toBeUndefined()
})

test('#21 lstat of a link to a directory, with a trailing separator', async () => {
  const edge = await withProvider()
  edge.directory('real')
  edge.link('dl', 'real')
  expect((await edge.fs.lstat('dl/'))?.type).toBe('symlink')
})

test('#22 a changed mode changes the version', async () => {
  const edge = await withProvider()
  const path = edge.file('f', 'x', 0o644)
  const before = await edge.version('f')
  chmodSync(path, 0o600)
  expect(await edge.version('f')).not.toBe(before)
})

test('#23 a new hard link changes the version', async () => {
  const edge = await withProvider()
  const path = edge.file('f', 'x')
  const before = await edge.version('f')
  linkSync(path, edge.at('g'))
  expect(await edge.version('f')).not.toBe(before)
})

test('#24 containment compares whole segments', async () => {
  const { fs } = await withProvider()
  expect(fs.contains(targetOf('/srv/a'), targetOf('/srv/a/..data'))).toBe(true)
  expect(fs.contains(targetOf('/srv/a'), targetOf('/srv/ab'))).toBe(false)
  expect(fs.contains(targetOf('/'), targetOf('/z'))).toBe(true)
})

test('#25 the URL of a path with reserved characters', async () => {
  const { fs } = await withProvider()
  expect(fs.fileUrl(targetOf('/x y/#1?%é'))).toBe('file:///x%20y/%231%3F%25%C3%A9')
})

test('#26 the service is seen through a proxy', async () => {
  class WithPrivateField extends Provider {
    #secret = 1
    reveal(): number {
      return this.#secret
    }
  }
  const edge = await Edge.with({ Provider: WithPrivateField })
  expect(isProxy(edge.ctx.fs)).toBe(true)
  expect(edge.ctx.fs).not.toBe(edge.ctx.fs)
  expect(edge.ctx.fs).toBeInstanceOf(Provider)
  expect(() => (edge.ctx.fs as unknown as WithPrivateField).reveal()).toThrow(TypeError)
})
