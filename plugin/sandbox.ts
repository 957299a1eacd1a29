/**
 * `ctx.fs` over the native engine, confined by the sandbox policy. Takes the place of `@deepseek-ai/dsh-fs-sandbox`.
 * Contract: sandbox.
 */
import type { Context } from '@deepseek-ai/cordis'
import type { FsEditOutcome, FsEditRequest, FsTarget, FsVersion, FsWriteIntent, FsWriteOutcome } from '@deepseek-ai/dsh-fs'
import type { SandboxExecutionPolicy, SandboxMode } from '@deepseek-ai/dsh-sandbox'
import type {} from '@deepseek-ai/dsh-sandbox-policy'
import { ENGINE, type EngineBacking } from './backing.ts'
import { confinementOf } from './confinement.ts'
import { type Config, NativeFileSystem, OWN_METHODS } from './provider.ts'

export type { Config } from './provider.ts'

/** Files of this machine, of which only those that the policy of a call names can be changed. Reads are not confined. */
export class NativeSandboxedFileSystem extends NativeFileSystem {
  static inject = ['sandboxPolicy']

  private readonly defaultMode: SandboxMode

  constructor(ctx: Context, config: Config) {
    super(ctx, config)
    this.defaultMode = ctx.sandboxPolicy.defaultMode
  }

  /** The deployment's mode. It tells the tools that this provider confines; the policy of a call decides. */
  override get sandboxMode(): SandboxMode {
    return this.defaultMode
  }

  /** Lets the tools call the engine directly, if they say under which policy. */
  override get [ENGINE](): EngineBacking {
    return { engine: this.engine, methods: CONFINED_METHODS, confines: true }
  }

  /** Contract: provider §9, sandbox. Without a policy the deployment's holds. */
  override async writeText(
    target: FsTarget,
    content: string,
    expected?: FsWriteIntent,
    signal?: AbortSignal,
    policy?: SandboxExecutionPolicy,
  ): Promise<FsWriteOutcome> {
    return this.write(target, content, expected, signal, confinementOf(policy ?? this.ctx.sandboxPolicy.resolve()))
  }

  /** Contract: provider §10, sandbox. Without a policy the deployment's holds. */
  override async editText(
    target: FsTarget,
    edit: FsEditRequest,
    expected?: { version: FsVersion },
    signal?: AbortSignal,
    policy?: SandboxExecutionPolicy,
  ): Promise<FsEditOutcome> {
    return this.edit(target, edit, expected, signal, confinementOf(policy ?? this.ctx.sandboxPolicy.resolve()))
  }
}

const { writeText, editText } = NativeSandboxedFileSystem.prototype
const CONFINED_METHODS = { ...OWN_METHODS, writeText, editText }

export default NativeSandboxedFileSystem
