/**
 * One side of the comparison: a real Cordis context with provider, tools and policy over a tree of its own,
 * and a log of what the parts tell each other. Nothing here knows which implementation is mounted.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import fs from 'node:fs'
import path from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { type FileSystem, FsError, type FsObservation, type FsTarget } from '@deepseek-ai/dsh-fs'
import SandboxPolicyService, { setSandboxMode } from '@deepseek-ai/dsh-sandbox-policy'
import * as systemPrompt from '@deepseek-ai/dsh-system-prompt'
import * as toolRuntime from '@deepseek-ai/dsh-tools'
import ApprovalService, { type ApprovalOutcome, type ApprovalRequest } from '@deepseek-ai/dsh-user-approval'
import {
  type Act,
  type AgentName,
  type Answer,
  type Confinement,
  type Hook,
  type HookPoint,
  PROVIDER_METHODS,
  type Settings,
} from './operations.ts'
import { type PlainObject, plainError, toPlain } from './plain.ts'
import { applyChange, type Clock, snapshot, type Tree } from './tree.ts'

/** A plugin as the loader takes it: a class, or an object with `apply`. */
// biome-ignore lint/suspicious/noExplicitAny: plugins of different packages share no narrower type.
export type PluginPart = any

/** What is mounted in a world. */
export interface Parts {
  provider: PluginPart
  /** The provider that confines. */
  confined: PluginPart
  tools: PluginPart
  policy: PluginPart
  /** The provider's methods are overridden by a subclass that logs each call the tools make. */
  watched: boolean
}

interface Fiber {
  dispose(): Promise<void>
}

const SESSION_CWD: Record<Exclude<AgentName, 'none' | 'bare'>, string> = {
  main: 'in/work',
  twin: 'in/work',
  sub: 'in/work/sub',
  link: 'in/work/ln',
  dots: 'in/work/ln/../sub',
  via: 'in/wl',
  beside: 'in/beside',
  gone: 'in/gone',
}

/**
 * @param sandbox for a call that writes: where no session says more, it starts from the root of this policy.
 * @returns the directory that an agent's relative paths start from.
 */
export function baseDirectory(root: string, agent: AgentName, sandbox?: Confinement): string {
  if (agent !== 'none' && agent !== 'bare') return `${root}/${SESSION_CWD[agent]}`
  return sandbox === undefined ? `${root}/in/work` : realPath(root, sandbox.root)
}

/** @returns the version that the contract (identity of `stat`) prescribes for what is on disk now. */
export function versionOnDisk(file: string, probe: typeof fs.statSync | typeof fs.lstatSync = fs.statSync): string {
  const stat = probe(file, { bigint: true, throwIfNoEntry: false }) as fs.BigIntStats | undefined
  if (stat === undefined) return `missing:${file}`
  return [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(':')
}

function thrown(act: Extract<Act, { do: 'throw' }>): unknown {
  if (act.error === 'plain') return new Error('bang')
  if (act.error === 'string') return 'thrown text'
  return new FsError('no', act.error)
}

function decided(event: string, decision: Extract<Act, { do: 'decide' }>['decision']): unknown {
  if (decision === 'none') return undefined
  if (event === 'fs/edit-intent') return { version: 'bogus' }
  return decision === 'absent' ? { kind: 'createIfAbsent' } : { kind: 'replaceIfVersion', version: 'bogus' }
}

export class World {
  readonly root: string
  readonly settings: Settings
  readonly context: Context
  /** What happened during the current operation, in order. */
  log: PlainObject[] = []
  /** The tree as it was when a hook had changed it in the middle of the operation. */
  changedTree: Tree | undefined
  /** Versions last seen, by target key, and targets first resolved, by path. */
  readonly known = new Map<string, string>()
  readonly kept = new Map<string, FsTarget>()

  private readonly parts: Parts
  private readonly clock: Clock
  private readonly agents = new Map<AgentName, object>()
  private readonly insideProvider = new AsyncLocalStorage<true>()
  private hook: Hook | undefined
  private controller = new AbortController()
  private policy: Fiber | undefined
  private answer: Answer | undefined

  private constructor(root: string, parts: Parts, settings: Settings, clock: Clock) {
    this.root = root
    this.settings = settings
    this.parts = parts
    this.clock = clock
    this.context = new Context()
  }

  /**
   * Mounts the parts over `root`/work.
   * @param root an existing directory, which the world may change.
   * @param clock shared by both worlds of a comparison.
   */
  static async open(root: string, parts: Parts, settings: Settings, clock: Clock): Promise<World> {
    const world = new World(root, parts, settings, clock)
    const { policy, diffBasisMaxBytes, sandbox, ...limits } = settings
    const Provider = sandbox === undefined ? parts.provider : parts.confined
    const provider = parts.watched ? world.watch(Provider) : Provider
    await world.context.plugin(systemPrompt.default as PluginPart)
    await world.context.plugin(toolRuntime.default as PluginPart)
    if (sandbox !== undefined) await world.confine(sandbox)
    await world.context.plugin(provider, { cwd: `${root}/in/work`, ...(diffBasisMaxBytes === undefined ? {} : { diffBasisMaxBytes }) })
    if (policy) await world.loadPolicy()
    await world.context.plugin(parts.tools, limits)
    world.listen()
    return world
  }

  get fs(): FileSystem {
    return this.context.fs
  }

  /** Mounts what says how writes are confined, and whom to ask for more. */
  private async confine(sandbox: NonNullable<Settings['sandbox']>): Promise<void> {
    await this.context.plugin(SandboxPolicyService, { mode: sandbox.mode, workspaceRoot: realPath(this.root, sandbox.root) })
    if (!sandbox.approval) return
    await this.context.plugin(ApprovalService, {})
    this.context.on('approval/request', (request, next) => this.decideApproval(request, next))
  }

  private async decideApproval(request: ApprovalRequest, next: () => Promise<ApprovalOutcome>): Promise<ApprovalOutcome> {
    const { toolName, callId, reason, signal } = request
    this.log.push({ asked: toPlain({ toolName, callId, reason, signal }, this.root), agent: this.agentName(request.agent) })
    const { answer = 'pass' } = this
    if (answer === 'throw') throw new Error('nobody can be asked')
    if (answer === 'abort') this.controller.abort()
    return answer === 'pass' || answer === 'abort' ? next() : answer
  }

  /** Switches the mode of an agent's session, if it has one. */
  setMode(name: AgentName, mode: Confinement['mode']): void {
    const agent = this.agent(name) as { session: Parameters<typeof setSandboxMode>[0] } | undefined
    if (agent !== undefined) setSandboxMode(agent.session, mode)
  }

  /** Loads the policy anew, without what the unloaded one had observed. */
  async loadPolicy(): Promise<void> {
    this.policy = (await this.context.plugin(this.parts.policy)) as unknown as Fiber
  }

  async unloadPolicy(): Promise<void> {
    await this.policy?.dispose()
    this.policy = undefined
  }

  async close(): Promise<void> {
    await (this.context as unknown as { fiber: Fiber }).fiber.dispose()
  }

  /** @returns the agent object of that name, the same for the whole sequence, or undefined for no agent. */
  agent(name: AgentName): object | undefined {
    if (name === 'none') return undefined
    let agent = this.agents.get(name)
    if (agent === undefined) {
      // In an open turn, without which nobody may be asked for approval.
      const events: object[] = [{ type: 'turn/start', data: {} }]
      const append = (type: string, data: object) => events.push({ type, data })
      agent = { session: { id: name, header: name === 'bare' ? {} : { cwd: baseDirectory(this.root, name) }, events, append } }
      this.agents.set(name, agent)
    }
    return agent
  }

  /** Starts an operation: forgets the log, arms the hook and the answer. @returns the controller whose signal the call gets. */
  begin(hook?: Hook, answer?: Answer): AbortController {
    this.log = []
    this.changedTree = undefined
    this.hook = hook
    this.answer = answer
    this.controller = new AbortController()
    return this.controller
  }

  private act(act: Act): void {
    if (act.do === 'abort') this.controller.abort()
    if (act.do === 'throw') throw thrown(act)
    if (act.do === 'change') {
      this.clock.tick()
      this.log.push({ change: applyChange(this.root, act.change) })
      this.changedTree = snapshot(this.root)
    }
  }

  private takeHook(at: HookPoint, when: Hook['when']): Act | undefined {
    if (this.hook?.at !== at || this.hook.when !== when) return undefined
    const { act } = this.hook
    this.hook = undefined
    return act
  }

  private fire(at: HookPoint, when: Hook['when']): void {
    const act = this.takeHook(at, when)
    if (act !== undefined) this.act(act)
  }

  private actorName(actor: unknown): string {
    const exec = actor as { callId?: unknown; name?: unknown; agent?: unknown } | undefined
    return `${String(exec?.name)} ${String(exec?.callId)} by ${this.agentName(exec?.agent)}`
  }

  private agentName(agent: unknown): AgentName {
    return [...this.agents].find(([, object]) => object === agent)?.[0] ?? 'none'
  }

  private async decide(
    event: 'fs/write-intent' | 'fs/edit-intent',
    target: FsTarget,
    actor: unknown,
    next: () => unknown,
  ): Promise<unknown> {
    const entry: PlainObject = { event, target: toPlain(target, this.root), actor: this.actorName(actor) }
    this.log.push(entry)
    const before = this.takeHook(event, 'before')
    if (before?.do === 'decide') return decided(event, before.decision)
    if (before !== undefined) this.act(before)
    try {
      const answer = await next()
      entry.answer = toPlain(answer, this.root)
      const after = this.takeHook(event, 'after')
      if (after?.do === 'decide') return decided(event, after.decision)
      if (after !== undefined) this.act(after)
      return answer
    } catch (error) {
      entry.refused = plainError(error, this.root)
      throw error
    }
  }

  private observe(target: FsTarget, observation: FsObservation, actor: unknown): void {
    const exact = observation.kind === 'present' && observation.version === versionOnDisk(target.targetKey)
    this.log.push({
      event: 'fs/observed',
      target: toPlain(target, this.root),
      observation: toPlain(observation, this.root),
      exact,
      actor: this.actorName(actor),
    })
    this.fire('fs/observed', 'before')
  }

  private listen(): void {
    const context = this.context as unknown as { on(name: string, listener: PluginPart, options: { prepend: boolean }): void }
    for (const event of ['fs/write-intent', 'fs/edit-intent'] as const) {
      context.on(event, (target: FsTarget, actor: unknown, next: () => unknown) => this.decide(event, target, actor, next), {
        prepend: true,
      })
    }
    context.on('fs/observed', (target: FsTarget, observation: FsObservation, actor: unknown) => this.observe(target, observation, actor), {
      prepend: true,
    })
  }

  /** A subclass that logs the calls from outside the provider; calls between its own methods are its own business. */
  private watch(Provider: PluginPart): PluginPart {
    const world = this
    const Watched = class extends Provider {}
    for (const method of PROVIDER_METHODS) {
      Object.defineProperty(Watched.prototype, method, {
        configurable: true,
        writable: true,
        value(this: unknown, ...args: unknown[]): unknown {
          const run = () => Provider.prototype[method].apply(this, args)
          if (world.insideProvider.getStore() === true) return run()
          world.logCall(method, args)
          const failure = world.hookFailure(`call:${method}`)
          if (failure !== undefined) return Promise.reject(failure.error)
          return world.insideProvider.run(true, run)
        },
      })
    }
    return Watched
  }

  private logCall(method: string, args: unknown[]): void {
    const given = args.map((value) => toPlain(value, this.root))
    while (given.length > 0 && args[given.length - 1] === undefined) given.pop()
    this.log.push({ call: method, args: given })
  }

  private hookFailure(at: HookPoint): { error: unknown } | undefined {
    try {
      this.fire(at, 'before')
      return undefined
    } catch (error) {
      return { error }
    }
  }
}

/** @returns the path with `<D>` replaced by the world's root. */
export function realPath(root: string, name: string): string {
  return name.replaceAll('<D>', root)
}

/** @returns where a path given to an agent's tool leads, lexically. */
export function lexicalPath(root: string, base: string, name: string): string {
  return path.resolve(base, realPath(root, name))
}
