/**
 * What the tests of confinement share: a base directory outside those for temporary files, with the workspace `w` and the
 * directory `o` that is outside of it, and a deployment that confines to the workspace.
 * @module
 */
import type { FsTarget, FsWriteIntent } from '@deepseek-ai/dsh-fs'
import type { SandboxExecutionPolicy } from '@deepseek-ai/dsh-sandbox'
import { expect } from 'vitest'
import { snapshot, treeDifferences } from '../differential/tree.ts'
import { openOutsideTemporary } from '../outside-temp.ts'
import { type Approval, describeError, Edge, type Failure, failed, fsError, replaced, type SandboxMode, Workspace } from './context.ts'

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

/**
 * The failure of a write whose missing directories cannot be made. Which step of that fails is open, and so is the system
 * error; the original's own is let through raw.
 */
export const parentsCannotBeMade = (path: string): object =>
  replaced<object>('D18', {
    original: { kind: 'raw', code: expect.stringMatching(/^E[A-Z]+$/), message: expect.stringContaining(' mkdir ') },
    ours: expect.objectContaining({ kind: 'FsError', message: expect.stringContaining(`cannot write "${path}": `) }),
  })

/** The error of a call that must fail and must change nothing, inside or outside. */
export async function refused(edge: Edge, call: () => Promise<unknown>): Promise<Failure> {
  const before = snapshot(edge.dir)
  const failure = await failed(call())
  expect(treeDifferences(before, snapshot(edge.dir))).toEqual([])
  return failure
}

export const refusedWrite = (edge: Edge, path: string): Promise<Failure> => refused(edge, () => write(edge, path))

/**
 * A call either changes just these paths, or fails with an error of the contract and changes nothing. The original's own
 * error is let through raw, as long as D18 replaces it.
 */
export async function refusedOr(edge: Edge, call: () => Promise<unknown>, effect: readonly string[]): Promise<void> {
  const before = snapshot(edge.dir)
  const failure = await call().then(() => undefined, describeError)
  const changed = treeDifferences(before, snapshot(edge.dir)).map(({ path }) => path)
  if (failure) expect(failure.kind).toBe(replaced('D18', { original: failure.kind, ours: 'FsError' }))
  expect(changed).toEqual(failure ? [] : effect)
}
