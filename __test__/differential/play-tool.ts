/** Plays tool calls in a world. */

import { type Plain, type PlainObject, plainError, toPlain } from './plain.ts'
import type { ToolCall } from './resolve.ts'
import { realPath, type World } from './world.ts'

/** The few members of the tool runtime that are used, with untyped arguments: invalid ones are wanted. */
interface Runtime {
  execute(input: object): Promise<unknown>
  executionMode(input: object): unknown
  get(name: string): { presentCall?(args: unknown): unknown; presentResult?(args: unknown, result: unknown): unknown } | undefined
}

function argumentsFor(world: World, args: unknown): unknown {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args
  const given = args as Record<string, unknown>
  const { file_path } = given
  return typeof file_path === 'string' ? { ...given, file_path: realPath(world.root, file_path) } : { ...given }
}

function attempt(world: World, run: () => unknown): Plain {
  try {
    return toPlain(run(), world.root)
  } catch (error) {
    return { thrown: plainError(error, world.root) }
  }
}

async function execute(world: World, call: ToolCall, callId: string, signal: AbortSignal): Promise<PlainObject> {
  const runtime = world.context.tools as unknown as Runtime
  const args = argumentsFor(world, call.args)
  const agent = world.agent(call.agent)
  const input = { callId, name: call.tool, arguments: args, signal, ...(agent === undefined ? {} : { agent }) }
  const mode = attempt(world, () => runtime.executionMode(input))
  let result: unknown
  let outcome: Plain
  try {
    result = await runtime.execute(input)
    outcome = toPlain(result, world.root)
  } catch (error) {
    outcome = { thrown: plainError(error, world.root) }
  }
  const definition = runtime.get(call.tool)
  return {
    outcome,
    mode,
    callView: attempt(world, () => definition?.presentCall?.(args)),
    resultView: attempt(world, () => (result === undefined ? undefined : definition?.presentResult?.(args, result))),
  }
}

/** @returns the whole visible outcome of one tool call: result, views, and the log of events and provider calls. */
export async function playTool(world: World, call: ToolCall): Promise<PlainObject> {
  const controller = world.begin(call.hook, call.answer)
  if (call.signal === 'before') controller.abort()
  const record = await execute(world, call, 'call', controller.signal)
  return { ...record, log: world.log }
}

/** Plays several calls at once; their events interleave freely, so each call keeps its own. */
export async function playParallel(world: World, calls: ToolCall[]): Promise<PlainObject> {
  const { signal } = world.begin()
  const records = await Promise.all(calls.map((call, index) => execute(world, call, `call-${index}`, signal)))
  const events = world.log.filter((entry) => 'event' in entry)
  return {
    calls: records.map((record, index) => ({ ...record, log: events.filter((entry) => String(entry.actor).includes(`call-${index} `)) })),
  }
}
