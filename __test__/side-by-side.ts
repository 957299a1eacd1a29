/**
 * Mounts the published plugins and ours on equal ground, so that tests can ask the original what to expect.
 * @module
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import type { FileSystem } from '@deepseek-ai/dsh-fs'
import LocalFileSystem from '@deepseek-ai/dsh-fs-local'
import * as SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import ToolRuntime, { type ToolExecutionInput, type ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { onTestFinished } from 'vitest'

export type Agent = NonNullable<ToolExecutionInput['agent']>
export type ToolsPlugin = typeof import('@deepseek-ai/dsh-tool-fs')
export type PolicyPlugin = typeof import('@deepseek-ai/dsh-fs-observation-policy')

/** A fresh directory, removed after the test. */
export function temporaryDirectory(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'side-by-side-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** An agent with a session of its own, which is all that tools and policy look at. */
export function agentIn(cwd?: string, events: object[] = []): Agent {
  return { session: { header: cwd === undefined ? {} : { cwd }, events } } as unknown as Agent
}

/** A context with prompt registry and tool runtime; disposed after the test. */
export async function runtime(): Promise<Context> {
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(SystemPrompt.default)
  await ctx.plugin(ToolRuntime)
  return ctx
}

/** The published provider. @returns the object itself, where a test can put methods of its own. */
export async function mountLocal(ctx: Context, cwd: string): Promise<FileSystem> {
  await ctx.plugin(LocalFileSystem, { cwd })
  return rawFs(ctx)
}

/** The provider without the proxy that the context puts around it. */
export function rawFs(ctx: Context): FileSystem {
  return (ctx.fs as unknown as Record<symbol, FileSystem>)[Symbol.for('cordis.original')]!
}

/** A call of a tool through the runtime. */
export function callTool(
  ctx: Context,
  name: string,
  args: object,
  { agent, signal = new AbortController().signal }: { agent?: Agent; signal?: AbortSignal } = {},
): Promise<ToolExecutionResult> {
  const input = { callId: 'call', name, arguments: args, signal, ...(agent ? { agent } : {}) }
  return ctx.tools.execute(input as unknown as ToolExecutionInput)
}

/** A result as the model sees it, plus the code of its error. */
export function outcome(result: ToolExecutionResult): { text: string; code?: string } {
  const [block] = result.content
  const code = result.error?.info?.code
  return { text: block?.type === 'text' ? block.text : '', ...(code === undefined ? {} : { code }) }
}
