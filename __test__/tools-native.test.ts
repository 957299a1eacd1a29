/** Our tools over our provider: the engine is called directly, unless somebody changed the provider. Contract: tools. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import type { FileSystem } from '@deepseek-ai/dsh-fs'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Primitive } from '../plugin/backing.ts'
import { LocalFs } from '../plugin/native.ts'
import { NativeFileSystem } from '../plugin/provider.ts'
import * as tools from '../plugin/tools/index.ts'
import { callTool, outcome, rawFs, runtime, temporaryDirectory } from './side-by-side.ts'

interface Place {
  ctx: Context
  fs: FileSystem
  dir: string
}

/** A context with a file `f` of three lines. Files of 100 bytes and more are streamed. */
async function mounted(Provider: typeof NativeFileSystem = NativeFileSystem): Promise<Place> {
  const dir = temporaryDirectory()
  const ctx = await runtime()
  await ctx.plugin(Provider, { cwd: dir })
  await ctx.plugin(tools, { readStreamMinSize: 100 })
  writeFileSync(join(dir, 'f'), 'a\nb\nc\n')
  writeFileSync(join(dir, 'big'), 'line\n'.repeat(100))
  return { ctx, fs: rawFs(ctx), dir }
}

/** A call in which each method is used. */
const CALLS: Record<Primitive, [tool: string, args: object]> = {
  resolve: ['read', { file_path: 'f' }],
  stat: ['read', { file_path: 'f' }],
  readText: ['read', { file_path: 'f' }],
  streamText: ['read', { file_path: 'big' }],
  writeText: ['write', { file_path: 'f', content: 'new' }],
  editText: ['edit', { file_path: 'f', old_string: 'b', new_string: 'B' }],
}

describe.each(Object.entries(CALLS))('%s', (method, [tool, args]) => {
  const name = method as Primitive

  /** Counts the calls of a method that goes on to the real one. */
  function counting(fs: FileSystem) {
    return vi.fn(function (this: unknown, ...given: unknown[]) {
      return (fs[name] as (...all: unknown[]) => unknown).apply(this, given)
    })
  }

  async function expectCalled({ ctx }: Place, counter: { mock: { calls: unknown[] } }): Promise<void> {
    expect((await callTool(ctx, tool, args)).isError).toBe(false)
    expect(counter.mock.calls.length).toBe(1)
  }

  test("is not called while it is the provider's own", async () => {
    const { ctx } = await mounted()
    const spies = (['resolve', 'stat', 'readText', 'openText', 'writeText', 'editText'] as const).map((own) =>
      vi.spyOn(LocalFs.prototype, own),
    )
    onTestFinished(() => void vi.restoreAllMocks())
    expect((await callTool(ctx, tool, args)).isError).toBe(false)
    for (const spy of spies) expect(spy).not.toHaveBeenCalled()
  })

  test('is called when the object overrides it', async () => {
    const place = await mounted()
    const counter = counting(NativeFileSystem.prototype)
    Object.assign(place.fs, { [name]: counter })
    await expectCalled(place, counter)
  })

  test('is called when a subclass overrides it', async () => {
    class Subclass extends NativeFileSystem {}
    const counter = counting(NativeFileSystem.prototype)
    Object.defineProperty(Subclass.prototype, name, { value: counter })
    await expectCalled(await mounted(Subclass), counter)
  })

  test('is called when somebody patched the prototype', async () => {
    const place = await mounted()
    const spy = vi.spyOn(NativeFileSystem.prototype, name)
    onTestFinished(() => void vi.restoreAllMocks())
    await expectCalled(place, spy)
  })
})

test('the results are the same both ways', async () => {
  const play = async (direct: boolean) => {
    const place = await mounted()
    // Methods that do the same but are not the class's own.
    const primitives = Object.fromEntries(
      Object.keys(CALLS).map((name) => {
        const own = NativeFileSystem.prototype[name as Primitive] as (...given: unknown[]) => unknown
        return [name, (...given: unknown[]) => own.apply(place.fs, given)]
      }),
    )
    if (!direct) Object.assign(place.fs, primitives)
    const log: unknown[] = []
    place.ctx.on('fs/observed', (target, observation) => void log.push([target.displayPath, observation.kind]))
    const failing = ['missing', '.', ''].map((file_path): [string, object] => ['read', { file_path }])
    for (const [tool, args] of [...Object.values(CALLS), ...failing]) {
      const result = await callTool(place.ctx, tool, args)
      log.push([tool, outcome(result), result.meta, result.value])
    }
    return JSON.parse(JSON.stringify(log).replaceAll(place.dir, '<D>'))
  }
  expect(await play(true)).toEqual(await play(false))
})

test('listeners of one call get one target object', async () => {
  const { ctx } = await mounted()
  const seen: unknown[] = []
  const deciding = (target: object, _actor: unknown, next: () => unknown) => {
    seen.push(target)
    return next() as never
  }
  ctx.on('fs/write-intent', deciding)
  ctx.on('fs/edit-intent', deciding)
  ctx.on('fs/observed', (target, observation) => void seen.push(target, observation))
  await callTool(ctx, 'write', { file_path: 'f', content: 'b' })
  await callTool(ctx, 'edit', { file_path: 'f', old_string: 'b', new_string: 'c' })
  await callTool(ctx, 'read', { file_path: 'missing' })
  expect(seen.length).toBe(8)
  expect(seen[1]).toBe(seen[0])
  expect(seen[4]).toBe(seen[3])
  expect(seen[3]).not.toBe(seen[0])
  expect(seen[2]).toStrictEqual({ kind: 'present', version: expect.stringMatching(/^\d+(:\d+){4}$/) })
  expect(seen[7]).toStrictEqual({ kind: 'absent' })
})

test('what listeners throw comes out, and so does an abort', async () => {
  const { ctx, dir } = await mounted()
  const thrown = Object.freeze({ odd: 'not even an error' })
  const controller = new AbortController()
  let act = (): unknown => Promise.reject(thrown)
  for (const event of ['fs/write-intent', 'fs/edit-intent'] as const) ctx.on(event, () => act() as never)
  const exec = { signal: controller.signal, callId: 'c' } as never
  const execute = (tool: Primitive) => ctx.tools.get(CALLS[tool][0])!.execute(CALLS[tool][1], exec)
  for (const tool of ['writeText', 'editText'] as const) await expect(execute(tool)).rejects.toBe(thrown)
  act = async () => void controller.abort()
  for (const tool of ['writeText', 'editText'] as const) await expect(execute(tool)).rejects.toMatchObject({ code: 'FS_ABORTED' })
  expect(readFileSync(join(dir, 'f'), 'utf8')).toBe('a\nb\nc\n')
})
