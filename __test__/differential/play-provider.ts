/** Plays calls on `ctx.fs` in a world. */
import fs from 'node:fs'
import nodePath from 'node:path'
import type { FsEditOutcome, FsInfo, FsPathInfo, FsTarget, FsVersion, FsWriteIntent, FsWriteOutcome } from '@deepseek-ai/dsh-fs'
import type { SandboxExecutionPolicy } from '@deepseek-ai/dsh-sandbox'
import type { Confinement, Guard, QueuedCall, QueueOperation } from './operations.ts'
import { type PlainObject, plainError, toPlain } from './plain.ts'
import type { ProviderCall } from './resolve.ts'
import { realPath, versionOnDisk, type World } from './world.ts'

async function settle(world: World, run: () => unknown): Promise<PlainObject> {
  try {
    return { value: toPlain(await run(), world.root) }
  } catch (error) {
    return { error: plainError(error, world.root) }
  }
}

function resolveOptions(world: World, cwd: string | undefined): { cwd?: string } {
  return cwd === undefined ? {} : { cwd: realPath(world.root, cwd) }
}

async function findTarget(world: World, call: ProviderCall): Promise<FsTarget> {
  const id = `${call.cwd ?? ''}\0${call.path}`
  const kept = world.kept.get(id)
  if (call.target === 'kept' && kept !== undefined) return kept
  const target = await world.fs.resolve(realPath(world.root, call.path), resolveOptions(world, call.cwd))
  if (kept === undefined) world.kept.set(id, target)
  return call.target === 'copy' ? { targetKey: target.targetKey, displayPath: target.displayPath } : target
}

async function guardVersion(world: World, target: FsTarget, guard: Guard): Promise<FsVersion | undefined> {
  if (guard === 'none' || guard === 'absent') return undefined
  if (guard === 'bogus') return 'bogus' as FsVersion
  const known = guard === 'known' ? world.known.get(target.targetKey) : undefined
  return (known ?? (await world.fs.stat(target))?.version ?? 'bogus') as FsVersion
}

/** The policy that a mutation gets as its last argument. */
function policyArgument(world: World, policy: Confinement | undefined): SandboxExecutionPolicy | undefined {
  return policy && { mode: policy.mode, workspaceRoot: realPath(world.root, policy.root) }
}

function writeIntent(guard: Guard, version: FsVersion | undefined): FsWriteIntent | undefined {
  if (guard === 'absent') return { kind: 'createIfAbsent' }
  return version === undefined ? undefined : { kind: 'replaceIfVersion', version }
}

async function readStream(world: World, target: FsTarget, controller: AbortController, abortFirst: boolean): Promise<object> {
  const stream = await world.fs.streamText(target, controller.signal)
  const chunks: string[] = []
  for await (const chunk of stream) {
    chunks.push(chunk)
    if (abortFirst) controller.abort()
  }
  // Where the chunks are cut means nothing; that the last one is the decoder's empty rest is visible.
  return { text: chunks.join(''), lastIsEmpty: chunks.at(-1) === '' }
}

/** Remembers the version of a result and says whether it is that of the file now on disk. */
function noteVersion(
  world: World,
  key: string,
  info: { version: FsVersion } | undefined,
  probe = fs.statSync as typeof fs.lstatSync,
): object {
  if (info === undefined) return { info }
  if (probe !== fs.lstatSync) world.known.set(key, info.version)
  return { info, exact: info.version === versionOnDisk(key, probe) }
}

async function callMethod(world: World, call: ProviderCall, target: FsTarget, controller: AbortController): Promise<unknown> {
  const { signal } = controller
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    if (call.signal === 'after') controller.abort()
    return promise
  }
  switch (call.method) {
    case 'stat': {
      const info: FsInfo | undefined = await run(world.fs.stat(target, signal))
      return noteVersion(world, target.targetKey, info)
    }
    case 'readText':
      return run(world.fs.readText(target, signal))
    case 'streamText':
      return readStream(world, target, controller, call.signal === 'after')
    case 'readBytes':
      return run(world.fs.readBytes(target, signal, call.maxBytes ?? 65536))
    case 'listDir': {
      const entries = await run(world.fs.listDir(target, signal))
      for (const entry of entries) if (entry.version !== undefined) world.known.set(entry.target.targetKey, entry.version)
      return entries
    }
    case 'writeText': {
      const version = await guardVersion(world, target, call.guard ?? 'none')
      const outcome: FsWriteOutcome = await run(
        world.fs.writeText(
          target,
          call.content ?? '',
          writeIntent(call.guard ?? 'none', version),
          signal,
          policyArgument(world, call.policy),
        ),
      )
      return noteVersion(world, target.targetKey, outcome)
    }
    case 'editText': {
      const version = await guardVersion(world, target, call.guard ?? 'none')
      const edit = { oldString: call.oldString ?? '', newString: call.newString ?? '', replaceAll: call.replaceAll ?? false }
      const expected = version === undefined ? undefined : { version }
      const outcome: FsEditOutcome = await run(world.fs.editText(target, edit, expected, signal, policyArgument(world, call.policy)))
      return noteVersion(world, target.targetKey, outcome)
    }
    case 'processPath':
      return world.fs.processPath(target)
    case 'fileUrl':
      return world.fs.fileUrl(target)
    default:
      throw new Error(`not a call on a target: ${call.method}`)
  }
}

/** Calls that are not made on a target just resolved. */
async function callOnPaths(world: World, call: ProviderCall, controller: AbortController): Promise<unknown> {
  const path = realPath(world.root, call.path)
  const options = resolveOptions(world, call.cwd)
  if (call.method === 'resolve') {
    const promise = world.fs.resolve(path, { ...options, signal: controller.signal })
    if (call.signal === 'after') controller.abort()
    return promise
  }
  if (call.method === 'lstat') {
    const promise: Promise<FsPathInfo | undefined> = world.fs.lstat(path, options, controller.signal)
    if (call.signal === 'after') controller.abort()
    const info = await promise
    return call.cwd === undefined ? noteVersion(world, nodePath.resolve(`${world.root}/in/work`, path), info, fs.lstatSync) : { info }
  }
  const parent = await world.fs.resolve(path)
  const child = await world.fs.resolve(realPath(world.root, call.child ?? call.path))
  return { inside: world.fs.contains(parent, child), around: world.fs.contains(child, parent) }
}

/** Confined to a workspace, a mutation resolves its target once more, which matters for one that was kept. */
async function mutatedTarget(world: World, call: ProviderCall, target: FsTarget): Promise<PlainObject> {
  const { mode } = call.policy ?? world.settings.sandbox ?? {}
  if (mode !== 'workspace-write' || call.target !== 'kept') return {}
  return { mutated: toPlain(await world.fs.resolve(target.displayPath).catch(() => target), world.root) }
}

const ON_PATHS: readonly string[] = ['resolve', 'lstat', 'contains']

/** @returns value or error of one provider call. A path that cannot be resolved ends the call at that stage. */
export async function playProvider(world: World, call: ProviderCall): Promise<PlainObject> {
  const controller = world.begin()
  if (call.signal === 'before') controller.abort()
  if (ON_PATHS.includes(call.method)) return { stage: 'call', ...(await settle(world, () => callOnPaths(world, call, controller))) }
  let target: FsTarget
  try {
    target = await findTarget(world, call)
  } catch (error) {
    return { stage: 'resolve', error: plainError(error, world.root) }
  }
  const mutated = await mutatedTarget(world, call, target)
  const outcome = await settle(world, () => callMethod(world, call, target, controller))
  return { stage: 'call', target: toPlain(target, world.root), ...mutated, ...outcome }
}

async function issue(
  world: World,
  target: FsTarget,
  call: QueuedCall,
  version: FsVersion | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const policy = policyArgument(world, call.policy)
  if (call.method === 'writeText') return world.fs.writeText(target, call.text, writeIntent(call.guard, version), signal, policy)
  const edit = { oldString: call.old ?? 'm', newString: call.text, replaceAll: false }
  return world.fs.editText(target, edit, version === undefined ? undefined : { version }, signal, policy)
}

/** Issues all calls of a queue in one turn, aborts those that are to be aborted while waiting, and awaits all. */
export async function playQueue(world: World, operation: QueueOperation): Promise<PlainObject> {
  world.begin()
  let target: FsTarget
  try {
    target = await world.fs.resolve(realPath(world.root, operation.path))
  } catch (error) {
    return { stage: 'resolve', error: plainError(error, world.root) }
  }
  const versions: (FsVersion | undefined)[] = []
  for (const call of operation.calls) versions.push(await guardVersion(world, target, call.guard))
  const controllers = operation.calls.map(() => new AbortController())
  operation.calls.forEach((call, index) => {
    if (call.signal === 'before') controllers[index]!.abort()
  })
  const issued = operation.calls.map((call, index) =>
    settle(world, () => issue(world, target, call, versions[index], controllers[index]!.signal)),
  )
  operation.calls.forEach((call, index) => {
    if (call.signal === 'after') controllers[index]!.abort()
  })
  return { stage: 'call', target: toPlain(target, world.root), calls: await Promise.all(issued) }
}
