/**
 * The real harness parts with this package mounted into them, and one agent session that calls tools.
 * @module
 */
import { Context } from '@deepseek-ai/cordis'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { type ToolExecutionInput, type ToolExecutionResult, type ToolResultView, ToolRuntime } from '@deepseek-ai/dsh-tools'
import * as policy from 'dsh-fs-native/policy'
import { NativeFileSystem } from 'dsh-fs-native/provider'
import * as tools from 'dsh-fs-native/tools'

/** What came of one tool call. */
export interface Outcome {
  readonly isError: boolean
  /** The code of the error (`FS_STALE_VERSION`, …), if it has one. */
  readonly code: string | undefined
  /** What the model receives. */
  readonly text: string
  /** What a user interface shows. */
  readonly card: ToolResultView | undefined
}

/** A running harness. */
export interface Harness {
  /** Asked from the context each time, as plugins do. */
  readonly fs: Context['fs']
  /** Calls a tool as the agent loop does. */
  call(name: string, args: Record<string, unknown>): Promise<Outcome>
  /** Unmounts everything. */
  stop(): Promise<void>
}

/**
 * Starts a harness and one session.
 * @param cwd - the directory of the session, absolute.
 */
export async function startHarness(cwd: string): Promise<Harness> {
  const ctx = new Context()
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRuntime)
  await ctx.plugin(NativeFileSystem, { cwd })
  await ctx.plugin(policy)
  await ctx.plugin(tools, {})
  // No more of an agent is read here than its session and the working directory in it.
  const agent = { session: { header: { cwd } } } as unknown as NonNullable<ToolExecutionInput['agent']>
  const { signal } = new AbortController()
  let calls = 0
  return {
    get fs() {
      return ctx.fs
    },
    async call(name, args) {
      calls += 1
      const callId = `call-${calls}` as ToolExecutionInput['callId']
      const result = await ctx.tools.execute({ callId, name, arguments: args, agent, signal })
      return outcomeOf(result, ctx.tools.get(name)?.presentResult?.(args, result))
    },
    async stop() {
      await ctx.fiber.dispose()
    },
  }
}

function outcomeOf(result: ToolExecutionResult, card: ToolResultView | undefined): Outcome {
  const texts = result.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
  return { isError: result.isError, code: result.isError ? result.error.info?.code : undefined, text: texts.join('\n'), card }
}
