/** One call of a tool: what it works on, whose it is, and the hooks that every executor asks for. Contract: events. */
import type { Context } from '@deepseek-ai/cordis'
import type { FsObservation, FsTarget, FsVersion, FsWriteIntent } from '@deepseek-ai/dsh-fs'
import type { SandboxExecutionPolicy } from '@deepseek-ai/dsh-sandbox'
import type { ToolRunContext } from '@deepseek-ai/dsh-tools'
import type { Primitive } from '../backing.ts'
import { withCancellation } from '../cancel.ts'
import { createFsError } from '../errors.ts'
import type { Cancellation, LocalFs, Observation, ProviderCallbacks, Target } from '../native.ts'
import { directEngine, providerCallbacks } from './engine.ts'

/** Runs an executor of the addon on the given provider. */
type Execute<T> = (provider: LocalFs | ProviderCallbacks, cancel: Cancellation | undefined) => Promise<T>

/** The state of one tool call. It keeps the objects of which an executor sees only copies. */
export class ToolCall {
  readonly ctx: Context
  readonly exec: ToolRunContext
  /** Answer of the `fs/write-intent` listeners. */
  writeIntent: FsWriteIntent | undefined
  /** Answer of the `fs/edit-intent` listeners. */
  editGuard: { version: FsVersion } | undefined
  /** The sandbox policy that this call runs under; undefined while or if there is none. */
  policy: SandboxExecutionPolicy | undefined
  /** Whether the policy is found out before any file is touched. */
  isAuthorized = false
  #target: FsTarget | undefined

  constructor(ctx: Context, exec: ToolRunContext) {
    this.ctx = ctx
    this.exec = exec
  }

  /** The session's working directory as spelled; undefined leaves the provider's default in force. */
  get cwd(): string | undefined {
    return this.exec.agent?.session.header.cwd
  }

  /**
   * The target of this call as one object: the first that was seen, which is what `resolve` of the provider returned, or
   * what our engine reported. Listeners may use it as an identity.
   *
   * @param seen the target, or the executor's copy of it
   */
  adopt(seen: Target): FsTarget {
    this.#target ??= seen as FsTarget
    return this.#target
  }

  /** The hooks that `read`, `write` and `edit` have in common. */
  hooks() {
    return {
      createError: createFsError,
      observed: (target: Target, observation: Observation) => {
        this.ctx.emit('fs/observed', this.adopt(target), observation as FsObservation, this.exec)
      },
    }
  }

  /**
   * Runs an executor on the provider that is mounted now. Only our engine gets a cancellation token: any other provider
   * gets the signal itself and decides what an abort means.
   *
   * @param used the provider methods that the executor stands in for or calls
   * @param execute starts the executor
   */
  run<T>(used: readonly Primitive[], execute: Execute<T>): Promise<T> {
    const { fs } = this.ctx
    const engine = directEngine(fs, used, this.isAuthorized)
    if (engine === undefined) return execute(providerCallbacks(fs, this), undefined)
    return withCancellation(this.exec.signal, (cancel) => execute(engine, cancel))
  }
}
