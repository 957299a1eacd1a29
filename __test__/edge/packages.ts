/**
 * The packages under test, mounted as the harness mounts them: ours, or with `EDGE_TARGET=original` the published ones
 * whose place they take. No test runner here: child processes use this module too.
 * @module
 */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Context } from '@deepseek-ai/cordis'
import { type FileSystem, FsError, type FsObservation, type FsTarget } from '@deepseek-ai/dsh-fs'
import type { LocalFileSystem, Config as ProviderConfig } from '@deepseek-ai/dsh-fs-local'
import type { SandboxedFileSystem } from '@deepseek-ai/dsh-fs-sandbox'
import type { SandboxMode } from '@deepseek-ai/dsh-sandbox'
import SandboxPolicyService from '@deepseek-ai/dsh-sandbox-policy'
import * as SystemPrompt from '@deepseek-ai/dsh-system-prompt'
import type { Config as ToolsConfig } from '@deepseek-ai/dsh-tool-fs'
import ToolRuntime, { type ToolExecutionInput, type ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import ApprovalService, { type ApprovalOutcome, type ApprovalRequest } from '@deepseek-ai/dsh-user-approval'

export type { ApprovalOutcome, ApprovalRequest, ProviderConfig, SandboxMode, ToolsConfig }
export type Agent = NonNullable<ToolExecutionInput['agent']>

/** Which packages this process tests. */
export const TARGET: 'ours' | 'original' = process.env['EDGE_TARGET'] === 'original' ? 'original' : 'ours'

/** The decisions of the contract that replace an outcome of the original in this version. */
export type Decision = 'D10' | 'D11' | 'D13' | 'D14' | 'D18' | 'D19' | 'D21' | 'D22'

/** The outcome to expect where a decision replaces that of the original. */
export function replaced<T>(_decision: Decision, outcomes: { original: T; ours: T }): T {
  return outcomes[TARGET]
}

// The runner's own resolver does not know a package's references to itself, Node's does.
const require = createRequire(import.meta.url)
const load = (specifier: string): Promise<unknown> => import(pathToFileURL(require.resolve(specifier)).href)
const names =
  TARGET === 'ours'
    ? {
        provider: 'dsh-fs-native/provider',
        sandbox: 'dsh-fs-native/sandbox',
        tools: 'dsh-fs-native/tools',
        policy: 'dsh-fs-native/policy',
      }
    : {
        provider: '@deepseek-ai/dsh-fs-local',
        sandbox: '@deepseek-ai/dsh-fs-sandbox',
        tools: '@deepseek-ai/dsh-tool-fs',
        policy: '@deepseek-ai/dsh-fs-observation-policy',
      }

// The types of the originals: ours promise the same.
export const Provider = ((await load(names.provider)) as { default: typeof LocalFileSystem }).default
export const SandboxedProvider = ((await load(names.sandbox)) as { default: typeof SandboxedFileSystem }).default
export const tools = (await load(names.tools)) as typeof import('@deepseek-ai/dsh-tool-fs')
export const policy = (await load(names.policy)) as typeof import('@deepseek-ai/dsh-fs-observation-policy')

/** One `fs/observed` event. */
export interface Observed {
  target: FsTarget
  observation: FsObservation
}

/** A context with a provider, and with the tool runtime when tools were asked for. */
export interface Mounted {
  ctx: Context
  fs: FileSystem
  /** The `fs/observed` events so far. */
  observed: Observed[]
  /** A call as the harness makes it; by default of the one agent whose working directory is the provider's. */
  call(name: string, args: object, options?: { agent?: Agent | undefined; signal?: AbortSignal }): Promise<ToolExecutionResult>
}

export interface MountOptions {
  provider?: ProviderConfig
  /** The class to mount in place of the provider's, for a test that watches its methods. */
  Provider?: typeof LocalFileSystem
  /** Confines: mounts the sandbox policy with this default, and the provider that enforces it. */
  sandbox?: Sandbox
  /** Mounts the service for approvals. */
  approval?: Approval
  tools?: ToolsConfig
  policy?: boolean
}

/** The default of a deployment. */
export interface Sandbox {
  mode: SandboxMode
  workspaceRoot: string
}

/** Who is asked for approval, and what they say; without an answer there is nobody. */
export interface Approval {
  answer?: (request: ApprovalRequest) => ApprovalOutcome
}

/** An event in a session's log, as far as services look at it. */
export interface SessionEvent {
  type: string
  data: object
}

/** An agent with a session of its own, in an open turn, which is all that tools, policies and the approval look at. */
export function agentIn(cwd?: string, log: SessionEvent[] = []): Agent {
  const events: SessionEvent[] = [{ type: 'turn/start', data: {} }, ...log]
  const append = (type: string, data: object): void => void events.push({ type, data })
  return { session: { id: 'session', header: cwd === undefined ? {} : { cwd }, events, append } } as unknown as Agent
}

async function mountConfinement(ctx: Context, { sandbox, approval }: MountOptions): Promise<void> {
  if (sandbox) await ctx.plugin(SandboxPolicyService, sandbox)
  if (!approval) return
  await ctx.plugin(ApprovalService, {})
  const { answer } = approval
  if (answer) ctx.on('approval/request', async (request) => answer(request))
}

/** The runtime that the tools register with. */
export async function mountRuntime(ctx: Context): Promise<void> {
  await ctx.plugin(SystemPrompt.default)
  await ctx.plugin(ToolRuntime)
}

/** Mounts a provider with its base directory, and tools and policy as asked. */
export async function mount(cwd: string, options: MountOptions = {}): Promise<Mounted> {
  const ctx = new Context()
  const observed: Observed[] = []
  ctx.on('fs/observed', (target, observation) => void observed.push({ target, observation }))
  if (options.tools) await mountRuntime(ctx)
  await mountConfinement(ctx, options)
  await ctx.plugin(options.Provider ?? (options.sandbox ? SandboxedProvider : Provider), { cwd, ...options.provider })
  if (options.policy) await ctx.plugin(policy)
  if (options.tools) await ctx.plugin(tools, options.tools)
  const agent = agentIn(cwd)
  return { ctx, fs: ctx.fs, observed, call: (name, args, own = {}) => callTool(ctx, name, args, { agent, ...own }) }
}

let calls = 0

/** A call of a tool through the runtime. */
export function callTool(
  ctx: Context,
  name: string,
  args: object,
  options: { agent?: Agent | undefined; signal?: AbortSignal } = {},
): Promise<ToolExecutionResult> {
  const input = {
    callId: `call-${++calls}`,
    name,
    arguments: args,
    ...(options.agent ? { agent: options.agent } : {}),
    signal: options.signal ?? new AbortController().signal,
  }
  return ctx.tools.execute(input as unknown as ToolExecutionInput)
}

/** An error in plain data, so that one from a child process compares like one of this process. */
export interface Failure {
  /** Whether it is the harness's own class. */
  kind: 'FsError' | 'raw'
  code?: string
  message: string
  /** The `code` of its cause. */
  cause?: string
}

export function describeError(error: unknown): Failure {
  const { code, message, cause } = error as { code?: unknown; message?: unknown; cause?: unknown }
  const causeCode = (cause as { code?: unknown } | undefined)?.code
  return {
    kind: error instanceof FsError ? 'FsError' : 'raw',
    ...(code === undefined ? {} : { code: String(code) }),
    message: String(message),
    ...(causeCode === undefined ? {} : { cause: String(causeCode) }),
  }
}

/** All chunks of a stream. */
export async function chunksOf(stream: AsyncIterable<string>): Promise<string[]> {
  const chunks: string[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}
