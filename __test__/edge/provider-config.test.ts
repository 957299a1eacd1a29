/** Edge cases of the provider's configuration (contract: provider config). */
import { resolve } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { expect, onTestFinished, test } from 'vitest'
import { Edge, failed, Provider, type ProviderConfig } from './context.ts'

/** Mounts the provider with a configuration that may be invalid. */
async function load(config: unknown, ctx = new Context()): Promise<Context> {
  await ctx.plugin(Provider, config as ProviderConfig)
  onTestFinished(() => ctx.fiber.dispose())
  return ctx
}

const OUT_OF_RANGE = 'fs-local: diffBasisMaxBytes must be a positive safe integer no greater than 536870888'

for (const [name, diffBasisMaxBytes] of [
  ['#100 no bytes for the old text', 0],
  ['#101 a negative number of bytes', -3],
  ['#102 half a byte', 2.5],
  ['#103 more bytes than a string can have', 2 ** 40],
] as const) {
  test(name, async () => {
    expect(await failed(load({ diffBasisMaxBytes }))).toEqual({ kind: 'raw', message: OUT_OF_RANGE })
  })
}

test('#104 a base directory that is not a string', async () => {
  expect((await failed(load({ cwd: 7 }))).message).toBe('invalid config:\n  - $.cwd expected string but got 7 (at cwd)')
})

test('#105 null stands for the default', async () => {
  const { fs } = await load({ cwd: null, diffBasisMaxBytes: null })
  expect((await fs.resolve('f')).displayPath).toBe(resolve('f'))
  // The default limit lets the old text through.
  const edge = await Edge.with({ provider: { diffBasisMaxBytes: null } as unknown as ProviderConfig })
  edge.file('f', 'old')
  expect((await edge.fs.writeText(await edge.resolve('f'), 'new')).before).toBe('old')
})

test('#106 a second provider in one context', async () => {
  const ctx = await load({})
  expect((await failed(load({}, ctx))).message).toBe(`service "fs" has been registered at <${Provider.name}>`)
})
