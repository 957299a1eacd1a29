/** Edge cases of the tools' configuration and life (contract: tools config). */
import { Context } from '@deepseek-ai/cordis'
import { expect, onTestFinished, test } from 'vitest'
import { errorOf, failed, mountRuntime, Provider, type ToolsConfig, tools, Workspace, withTools } from './context.ts'

for (const [name, key] of [
  ['#190 readLimit', 'readLimit'],
  ['#191 readMaxLineLength', 'readMaxLineLength'],
  ['#192 readMaxBytes', 'readMaxBytes'],
  ['#193 readStreamMinSize', 'readStreamMinSize'],
] as const) {
  test(`${name} below 1 or not an integer`, async () => {
    for (const value of [0, 1.5]) {
      expect(await failed(withTools({ [key]: value } as ToolsConfig))).toEqual({
        kind: 'raw',
        message: `tool-fs: ${key} must be a positive integer`,
      })
    }
  })
}

test('#194 a smaller limit of lines', async () => {
  const edge = await withTools({ readLimit: 4 })
  edge.file('f', 'x')
  expect(errorOf(await edge.call('read', { file_path: 'f', limit: 5 }))).toEqual({ message: 'limit must be less than or equal to 4' })
  const { parameters } = edge.ctx.tools.schemas().find((schema) => schema.name === 'read')!
  expect(parameters).toMatchObject({ properties: { limit: { description: 'Maximum number of lines to return. Defaults to 4.' } } })
})

test('#195 the tools come and go with the provider', async () => {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  const registered = (): boolean[] => ['read', 'write', 'edit'].map((name) => ctx.tools.get(name) !== undefined)
  await mountRuntime(ctx)
  const loaded = ctx.plugin(tools, {})
  expect(registered()).toEqual([false, false, false])
  const provider = await ctx.plugin(Provider, { cwd: new Workspace().dir })
  await loaded
  expect(registered()).toEqual([true, true, true])
  await provider.dispose()
  expect(registered()).toEqual([false, false, false])
})
