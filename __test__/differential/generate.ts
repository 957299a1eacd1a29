/** Draws sequences of operations. All choices come from the seed; nothing is looked up on disk. */

import { confine } from './confine.ts'
import {
  type Act,
  type AgentName,
  type Argument,
  type Change,
  type Guard,
  type Hook,
  type HookPoint,
  type Needle,
  type Operation,
  type ParallelOperation,
  PROVIDER_METHODS,
  type ProviderMethod,
  type ProviderOperation,
  type QueuedCall,
  type QueueOperation,
  type Replacement,
  type Sequence,
  type Settings,
  type ToolOperation,
} from './operations.ts'
import { drawChangePath, drawContained, drawDirectory, drawEntryPath, drawPath, drawReadPath, drawSetup, sizesFor } from './paths.ts'
import { mixSeeds, Random } from './random.ts'
import { drawContent, drawFileText, drawSnippet } from './text.ts'

/** How many of all sequences play under confinement. */
const CONFINED_SHARE = 1 / 3

function drawSettings(random: Random): Settings {
  const settings: Settings = { policy: random.chance(0.75) }
  if (random.chance(0.4)) settings.readLimit = random.between(2, 12)
  if (random.chance(0.35)) settings.readMaxLineLength = random.between(4, 40)
  if (random.chance(0.35)) settings.readMaxBytes = random.between(2, 200)
  if (random.chance(0.35)) settings.readStreamMinSize = random.pick([1, 30, 5000])
  if (random.chance(0.25)) settings.diffBasisMaxBytes = random.between(2, 120)
  return settings
}

function drawAgent(random: Random): AgentName {
  return random.weighted([
    [60, 'main'],
    [10, 'twin'],
    [9, 'sub'],
    [5, 'link'],
    [5, 'dots'],
    [4, 'bare'],
    [7, 'none'],
  ])
}

/** An agent and a path that name the same few files, so that operations meet. */
function drawPlace(random: Random, path: string): { agent: AgentName; file_path: string } {
  const agent = drawAgent(random)
  if ((agent === 'sub' || agent === 'dots') && random.chance(0.7))
    return { agent, file_path: random.pick(['d.ts', '../a.txt', 'deep/e', '../b.md', 'new.tsx']) }
  if (agent === 'link' && random.chance(0.7)) return { agent, file_path: random.pick(['e', '../d.ts', 'zz/../e', '../../a.txt', 'new.md']) }
  return { agent, file_path: path }
}

function drawNeedle(random: Random): Needle {
  if (random.chance(0.3)) return { text: drawSnippet(random) }
  const form = random.weighted<'shown' | 'raw'>([
    [8, 'shown'],
    [2, 'raw'],
  ])
  const length = random.weighted([
    [3, random.between(1, 12)],
    [6, random.between(6, 60)],
    [1, random.between(1, 600)],
  ])
  return { cut: random.next(), length, form }
}

function drawReplacement(random: Random): Replacement {
  const derive = random.weighted<'upper' | 'longer' | 'breaks' | undefined>([
    [1, 'upper'],
    [5, 'longer'],
    [1, 'breaks'],
    [5, undefined],
  ])
  if (derive !== undefined) return { derive }
  return { text: random.chance(0.15) ? [] : drawSnippet(random) }
}

function drawChange(random: Random, settings: Settings): Change {
  const path = drawChangePath(random)
  const text = () => drawFileText(random, sizesFor(settings))
  return random.weighted<() => Change>([
    [22, () => ({ do: 'write', path, text: text() })],
    [8, () => ({ do: 'replace', path, text: text() })],
    [10, () => ({ do: 'append', path, text: drawSnippet(random) })],
    [6, () => ({ do: 'truncate', path, size: random.pick([0, 1, 5, 8192, 30]) })],
    [5, () => ({ do: 'remove', path })],
    [4, () => ({ do: 'rename', path, to: drawChangePath(random) })],
    [
      5,
      () => ({
        do: 'symlink',
        path,
        to: random.pick(['a.txt', 'sub', 'absent', path.split('/').at(-1)!, '<D>/in/work/b.md', 'link', '../work']),
      }),
    ],
    [4, () => ({ do: 'link', path, to: random.pick(['hard', 'hard2', 'sub/hard3']) })],
    [8, () => ({ do: 'chmod', path, mode: random.pick([0o600, 0o644, 0o755, 0o444, 0o4755, 0o1777, 0o000]) })],
    [4, () => ({ do: 'touch', path })],
    [3, () => ({ do: 'mkdir', path })],
  ])()
}

/** A directory takes the place of a file, or a file that of a directory or link. */
function drawReplacing(random: Random, settings: Settings): Change[] {
  const path = drawChangePath(random)
  const put: Change = random.chance(0.5) ? { do: 'mkdir', path } : drawChange(random, settings)
  return [{ do: 'remove', path }, { ...put, path } as Change]
}

function drawHook(random: Random, points: readonly HookPoint[], settings: Settings): Hook {
  const at = random.pick(points)
  const act = random.weighted<() => Act>([
    [4, () => ({ do: 'abort' })],
    [3, () => ({ do: 'throw', error: random.pick(['FS_NOT_OBSERVED', 'FS_STALE_VERSION', 'plain', 'string'] as const) })],
    [6, () => ({ do: 'change', change: drawChange(random, settings) })],
    [at.endsWith('intent') ? 3 : 0, () => ({ do: 'decide', decision: random.pick(['none', 'absent', 'bogus'] as const) })],
  ])()
  return { at, when: at.endsWith('intent') && random.chance(0.5) ? 'after' : 'before', act }
}

const BAD_VALUES: readonly Argument[] = [null, 5, true, ['a'], { json: {} }, { text: ['words'] }, -1, 2.5, 0, 1e9]

/** Damages one argument, or adds one that does not belong there. */
function spoil(random: Random, args: Record<string, Argument>): ToolOperation['args'] {
  const key = random.pick(Object.keys(args))
  const { [key]: _removed, ...rest } = args
  const bad = random.pick(BAD_VALUES)
  return random.weighted<ToolOperation['args']>([
    [3, { ...args, [key]: bad }],
    [2, rest],
    [1, { ...args, extra: bad }],
    [1, { notObject: bad }],
    [1, {}],
    [1, { ...args, sandbox_permissions: { text: [random.pick(['workspace-write', 'danger-full-access', 'read-only'])] } }],
    [1, { ...args, justification: { text: [random.pick(['because', ' '])] } }],
    [1, { ...args, sandbox_permissions: { text: ['danger-full-access'] }, justification: { text: ['because'] } }],
    [0.3, { ...args, sandbox_permissions: bad, justification: bad }],
  ])
}

function finishTool(random: Random, operation: ToolOperation, points: readonly HookPoint[], settings: Settings): ToolOperation {
  if (random.chance(0.06)) operation.args = spoil(random, operation.args as Record<string, Argument>)
  if (random.chance(0.02)) operation.signal = 'before'
  if (random.chance(0.12)) operation.hook = drawHook(random, points, settings)
  return operation
}

function drawRead(random: Random, settings: Settings): ToolOperation {
  const { agent, file_path } = drawPlace(random, drawReadPath(random))
  const args: Record<string, Argument> = { file_path }
  const limit = settings.readLimit ?? 2000
  if (random.chance(0.35))
    args.offset = random.weighted([
      [6, random.between(1, 5)],
      [2, random.between(1, 14)],
      [0.5, limit],
      [0.4, random.between(0, 3000)],
      [0.2, random.pick([0, -1, 1.5])],
    ])
  if (random.chance(0.35))
    args.limit = random.weighted([
      [8, random.between(1, Math.min(limit, 10))],
      [1, limit],
      [0.3, limit + 1],
      [0.2, random.pick([0, -1, 1.5])],
    ])
  return finishTool(
    random,
    { kind: 'tool', tool: 'read', agent, args },
    ['fs/observed', 'call:resolve', 'call:stat', 'call:readText', 'call:streamText'],
    settings,
  )
}

function drawWrite(random: Random, settings: Settings): ToolOperation {
  const { agent, file_path } = drawPlace(random, drawPath(random))
  const args = { file_path, content: { text: drawContent(random, sizesFor(settings)) } }
  return finishTool(
    random,
    { kind: 'tool', tool: 'write', agent, args },
    ['fs/write-intent', 'fs/write-intent', 'fs/observed', 'call:resolve', 'call:writeText'],
    settings,
  )
}

function drawEdit(random: Random, settings: Settings): ToolOperation {
  const { agent, file_path } = drawPlace(random, drawPath(random))
  const args: Record<string, Argument> = {
    file_path,
    old_string: { needle: drawNeedle(random) },
    new_string: { replacement: drawReplacement(random) },
  }
  if (random.chance(0.4)) args.replace_all = random.chance(0.8)
  return finishTool(
    random,
    { kind: 'tool', tool: 'edit', agent, args },
    ['fs/edit-intent', 'fs/edit-intent', 'fs/observed', 'call:resolve', 'call:editText'],
    settings,
  )
}

function drawGuard(random: Random): Guard {
  return random.weighted([
    [5, 'none'],
    [2, 'absent'],
    [4, 'fresh'],
    [4, 'known'],
    [0.5, 'bogus'],
  ])
}

function drawProvider(random: Random, settings: Settings): ProviderOperation {
  const method = random.weighted<ProviderMethod>([
    ...PROVIDER_METHODS.map((name) => [1, name] as const),
    [2, 'writeText'],
    [3, 'editText'],
    [1, 'readText'],
  ])
  const mutation = method === 'writeText' || method === 'editText'
  const path = mutation
    ? drawPath(random)
    : method === 'listDir'
      ? drawDirectory(random)
      : method === 'lstat'
        ? drawEntryPath(random)
        : drawReadPath(random)
  const call: ProviderOperation = { kind: 'provider', method, path }
  if (random.chance(0.2)) call.target = 'copy'
  else if (random.chance(0.25)) call.target = 'kept'
  if (method === 'resolve' || method === 'lstat') {
    if (random.chance(0.25))
      call.cwd = random.pick(['<D>/in/work/sub', '<D>/in/work/ln', '<D>', 'sub', '', '<D>/in/work/nowhere', '<D>/in/work/a.txt'])
  }
  if (method === 'contains') [call.path, call.child] = drawContained(random)
  if (method === 'readBytes') call.maxBytes = random.pick([0, 1, 10, 100, 65536, 1_000_000])
  if (mutation) call.guard = drawGuard(random)
  if (method === 'writeText') call.content = drawContent(random, sizesFor(settings))
  if (method === 'editText') {
    call.needle = random.chance(0.03) ? { text: [] } : drawNeedle(random)
    call.replacement = drawReplacement(random)
    call.replaceAll = random.chance(0.4)
  }
  // How much of a stream comes before its abort depends on where it is cut, which means nothing.
  const late = !mutation && call.method !== 'streamText'
  if (random.chance(0.08)) call.signal = late && random.chance(0.5) ? 'after' : 'before'
  return call
}

function drawQueued(random: Random, index: number): QueuedCall {
  const length = random.between(1, 3) + 5 * index
  const call: QueuedCall = random.chance(0.5)
    ? {
        method: 'writeText',
        guard: random.weighted<Guard>([
          [5, 'none'],
          [1, 'absent'],
          [2, 'fresh'],
          [1, 'known'],
        ]),
        text: `${'m'.repeat(length)}\n`,
      }
    : {
        method: 'editText',
        guard: random.weighted<Guard>([
          [6, 'none'],
          [2, 'fresh'],
          [1, 'known'],
        ]),
        old: random.pick(['m', 'one', 'm\n']),
        text: `m${'k'.repeat(length)}`,
      }
  // Whether a call still sees an abort right after it is a race with the worker threads; edge case 311 has that abort.
  if (random.chance(0.25)) call.signal = 'before'
  return call
}

function drawQueue(random: Random): QueueOperation {
  const calls = Array.from({ length: random.between(2, 5) }, (_, index) => drawQueued(random, index))
  const queue: QueueOperation = { kind: 'queue', path: random.pick(['a.txt', 'b.md', 'link', 'new1.txt', 'sub/d.ts']), calls }
  return { ...queue, initial: random.pick(['one m two\n', 'm', 'one\n']) }
}

function drawParallel(random: Random, settings: Settings): ParallelOperation {
  const calls = random.times(random.between(2, 6), () => {
    const { hook: _hook, ...call } = drawRead(random, settings)
    return call
  })
  return { kind: 'parallel', calls }
}

/** What an agent does: look, then change, most often the same file. */
function drawReadThenEdit(random: Random, settings: Settings): Operation[] {
  const read = drawRead(random, settings)
  delete read.hook
  const change = random.chance(0.7) ? drawEdit(random, settings) : drawWrite(random, settings)
  const { file_path } = read.args as Record<string, Argument>
  if (file_path === undefined || String(file_path).startsWith('/dev')) return [read]
  if (!('notObject' in change.args) && change.args.file_path !== undefined) change.args.file_path = file_path
  return [read, { ...change, agent: read.agent }]
}

function drawOperations(random: Random, settings: Settings): Operation[] {
  return random.weighted<() => Operation[]>([
    [27, () => drawReadThenEdit(random, settings)],
    [14, () => [drawRead(random, settings)]],
    [9, () => [drawWrite(random, settings)]],
    [4, () => [drawEdit(random, settings)]],
    [24, () => [drawProvider(random, settings)]],
    [14, () => [{ kind: 'change', change: drawChange(random, settings) }]],
    [1.5, () => drawReplacing(random, settings).map((change) => ({ kind: 'change', change }))],
    [4, () => [drawQueue(random)]],
    [2, () => [drawParallel(random, settings)]],
    [1, () => [{ kind: 'policy', action: random.pick(['unload', 'reload'] as const) }]],
    [0.5, () => [{ kind: 'tool', tool: 'unknown', agent: 'main', args: {} }]],
  ])()
}

/**
 * @param seed of this sequence alone.
 * @param length how many operations it has.
 */
export function generateSequence(seed: number, length: number): Sequence {
  const sequence = drawSequence(seed, length)
  // Drawn from a seed of their own, so that confinement leaves the sequences as they are without it.
  const confinement = new Random(mixSeeds(seed, length))
  return confinement.chance(CONFINED_SHARE) ? confine(confinement, sequence) : sequence
}

function drawSequence(seed: number, length: number): Sequence {
  const random = new Random(seed)
  const settings = drawSettings(random)
  const setup = drawSetup(random, settings)
  const operations: Operation[] = []
  while (operations.length < length) operations.push(...drawOperations(random, settings))
  return { settings, setup, operations: operations.slice(0, length) }
}
