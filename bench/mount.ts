/**
 * A side of the comparison, mounted into a real Cordis context with the published tool runtime.
 * @module
 */
import { Context, type Plugin } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-fs'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { type ToolExecutionInput, type ToolExecutionSuccess, ToolRuntime } from '@deepseek-ai/dsh-tools'
import { isNoiseRun, type Side } from './sides.ts'

interface Modules {
  readonly provider: string
  readonly tools: string
  readonly policy: string
}

const ORIGINAL: Modules = {
  provider: '@deepseek-ai/dsh-fs-local',
  tools: '@deepseek-ai/dsh-tool-fs',
  policy: '@deepseek-ai/dsh-fs-observation-policy',
}

const OURS: Modules = { provider: 'dsh-fs-native/provider', tools: 'dsh-fs-native/tools', policy: 'dsh-fs-native/policy' }

function modulesOf(side: Side): Modules {
  return side === 'ours' && !isNoiseRun() ? OURS : ORIGINAL
}

/** A plugin as the harness loader takes it from a module: its default export, else the module. */
async function load(name: string): Promise<Plugin> {
  const module: { default?: Plugin } & Plugin = await import(name)
  return module.default ?? module
}

/** One mounted side. */
export interface Mounted {
  /** Asked from the context each time, as the harness does: every access makes a new proxy. */
  readonly fs: Context['fs']
  /** Runs a tool for one and the same session. Throws if the tool fails. */
  execute(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolExecutionSuccess>
}

/**
 * Imports and mounts the plugins of `side`.
 * @param cwd - the working directory of the provider and of the session.
 */
export async function mount(side: Side, cwd: string): Promise<Mounted> {
  const names = modulesOf(side)
  const ctx = new Context()
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRuntime)
  await ctx.plugin(await load(names.provider), { cwd })
  await ctx.plugin(await load(names.policy))
  await ctx.plugin(await load(names.tools), {})
  // The runtime and the policy read no more of an agent than its session and the working directory there.
  const agent = { session: { header: { cwd } } } as unknown as NonNullable<ToolExecutionInput['agent']>
  let calls = 0
  return {
    get fs() {
      return ctx.fs
    },
    async execute(name, args, signal) {
      const callId = `call-${calls++}` as ToolExecutionInput['callId']
      const result = await ctx.tools.execute({ callId, name, arguments: args, agent, signal })
      if (result.isError) throw new Error(`${side}: ${name} failed: ${result.error.message}`)
      return result
    },
  }
}
