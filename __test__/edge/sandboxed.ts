/**
 * What the tests of confinement share: a base directory outside those for temporary files, with the workspace `w` and the
 * directory `o` that is outside of it, and a deployment that confines to the workspace.
 * @module
 */
import type { FsTarget, FsWriteIntent } from '@deepseek-ai/dsh-fs'
import type { SandboxExecutionPolicy } from '@deepseek-ai/dsh-sandbox'
import { openOutsideTemporary } from '../outside-temp.ts'
import { type Approval, Edge, type Failure, fsError, type SandboxMode, Workspace } from './context.ts'

export interface Sandboxing {
  mode?: SandboxMode
  /** The deployment's root and the provider's base directory, as names below the base. */
  workspaceRoot?: string
  cwd?: string
  tools?: boolean
  approval?: Approval
}

/** The files of a test, with nothing mounted. */
export function confinedSpace(): Workspace {
  return furnished(new Workspace(openOutsideTemporary()))
}

/** A provider that confines, with the tools if they are asked for. */
export async function withSandbox(options: Sandboxing = {}): Promise<Edge> {
  const edge = furnished(new Edge(openOutsideTemporary()))
  await mountSandbox(edge, options)
  return edge
}

/** Mounts what confines on files that are there already. */
export function mountSandbox(edge: Edge, { mode = 'workspace-write', workspaceRoot = 'w', cwd = 'w', ...rest }: Sandboxing): Promise<void> {
  return edge.mount(edge.at(cwd), {
    sandbox: { mode, workspaceRoot: edge.at(workspaceRoot) },
    ...(rest.tools ? { tools: {} } : {}),
    ...(rest.approval ? { approval: rest.approval } : {}),
  })
}

function furnished<T extends Workspace>(space: T): T {
  space.directory('w')
  space.directory('o')
  return space
}

export interface WriteOptions {
  intent?: FsWriteIntent
  signal?: AbortSignal
  /** The fifth argument; without it the deployment's default holds. */
  policy?: SandboxExecutionPolicy
}

/** A write through the provider, of a path or of a target resolved before. */
export async function write(edge: Edge, place: string | FsTarget, content = 'new', { intent, signal, policy }: WriteOptions = {}) {
  const target = typeof place === 'string' ? await edge.resolve(place) : place
  return edge.fs.writeText(target, content, intent, signal, policy)
}

/** The refusal of the provider, for edits too. */
export const denied = (path: string, mode: SandboxMode = 'workspace-write'): Failure =>
  fsError('FS_SANDBOX_DENIED', `cannot write "${path}": file access denied under ${mode} mode`)
