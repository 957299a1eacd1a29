/** Plays one sequence on two worlds and compares them after every operation. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { openOutsideTemporary } from '../outside-temp.ts'
import type { Case, PlayedCall, RuleName, RuleSet } from './case.ts'
import { type Difference, firstDifference, VersionPairs } from './compare.ts'
import type { Confinement, Operation, ParallelOperation, Sequence, ToolOperation } from './operations.ts'
import { at, copyPlain, type PlainObject, toPlain } from './plain.ts'
import { playProvider, playQueue } from './play-provider.ts'
import { playParallel, playTool } from './play-tool.ts'
import { resolveProvider, resolveTool, type ToolCall } from './resolve.ts'
import { applyRules } from './rules.ts'
import { applyChange, Clock, overwrite, removeTree, snapshot, type Tree, treeDifferences } from './tree.ts'
import { baseDirectory, lexicalPath, type Parts, World } from './world.ts'

/** Two sets of parts and the rules under which the second may differ from the first. */
export interface Match {
  name: string
  left: Parts
  right: Parts
  rules: RuleSet
}

export interface Failure {
  /** Index of the operation that showed the difference; -1 for the definitions before any. */
  index: number
  /** The operation with its texts worked out. */
  operation: unknown
  differences: Difference[]
}

export interface Played {
  operations: number
  used: Map<RuleName, number>
  /** How often each kind of call ended how, in the left world: shows what the sequences reach. */
  outcomes: Map<string, number>
  failure?: Failure
}

/** No call takes this long unless it hangs; milliseconds. */
const SETTLE_LIMIT = 20_000

async function inTime<T>(promise: Promise<T>, side: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the ${side} world did not settle within ${SETTLE_LIMIT} ms`)), SETTLE_LIMIT)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** What the model and the prompt get to see before any call. */
async function definitions(world: World): Promise<PlainObject> {
  const { tools, systemPrompt } = world.context as unknown as {
    tools: { schemas(): unknown }
    systemPrompt: { assemble(): Promise<unknown> }
  }
  return { schemas: toPlain(tools.schemas(), world.root), prompt: toPlain(await systemPrompt.assemble(), world.root) }
}

/**
 * An edit's outcome on a file with a BOM, a CR or a NUL may differ by decision. A listener that then changes the
 * file once more, or fails the call, would hide that outcome from the rules, so it is left out there.
 */
function withoutMaskingHook(operation: ToolOperation, root: string, sandbox: Confinement | undefined): ToolOperation {
  if (operation.tool !== 'edit' || operation.hook?.at !== 'fs/observed' || 'notObject' in operation.args) return operation
  const name = operation.args.file_path
  try {
    const bytes = fs.readFileSync(lexicalPath(root, baseDirectory(root, operation.agent, sandbox), String(name)))
    const special = bytes.includes(0) || bytes.includes(0x0d) || bytes.subarray(0, 3).toString('hex') === 'efbbbf'
    if (!special) return operation
  } catch {
    return operation
  }
  const { hook: _hook, ...rest } = operation
  return rest
}

/** Counts one more of something. */
export function count<K>(counts: Map<K, number>, key: K, more = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}

/** @returns how a call ended: `ok`, or the code or the first word of its error. */
function ending(record: PlainObject): string {
  const error = (at(record, 'outcome', 'error') ?? at(record, 'error')) as PlainObject | undefined
  if (error === undefined) return 'ok'
  const code = at(error, 'info', 'code') ?? at(error, 'code')
  const word = String(error.message).split(/[ :]/)[0]!
  return typeof code === 'string' && code !== 'none' ? code : word
}

class Comparison {
  readonly used = new Map<RuleName, number>()
  readonly outcomes = new Map<string, number>()
  /** Whether what the two worlds' sessions know differs by a decision: then there is nothing left to compare. */
  parted = false
  private readonly pairs = new VersionPairs()
  private readonly match: Match
  private readonly sequence: Sequence
  private readonly left: World
  private readonly right: World
  private readonly clock: Clock

  constructor(match: Match, sequence: Sequence, left: World, right: World, clock: Clock) {
    this.match = match
    this.sequence = sequence
    this.left = left
    this.right = right
    this.clock = clock
  }

  private async both<T>(play: (world: World) => Promise<T>): Promise<[T, T]> {
    const one = (world: World, side: string): Promise<T> => {
      // Confinement opens the directory for temporary files, so each world gets its own.
      process.env['TMPDIR'] = `${world.root}/in/temp`
      return inTime(play(world), side)
    }
    return [await one(this.left, 'left'), await one(this.right, 'right')]
  }

  async compareDefinitions(): Promise<Difference[]> {
    const [left, right] = await this.both(definitions)
    const found = firstDifference(left, right, this.pairs)
    return found === undefined ? [] : [found]
  }

  /** Plays one operation. @returns the operation as played, and the differences that no rule explains. */
  async step(operation: Operation): Promise<{ played: unknown; differences: Difference[] }> {
    this.clock.tick()
    switch (operation.kind) {
      case 'change':
        return { played: operation, differences: this.change(operation.change) }
      case 'policy': {
        await this.both(async (world) => {
          await world.unloadPolicy()
          if (operation.action === 'reload') await world.loadPolicy()
        })
        return { played: operation, differences: [] }
      }
      case 'mode':
        await this.both(async (world) => world.setMode(operation.agent, operation.mode))
        return { played: operation, differences: [] }
      case 'tool': {
        const { sandbox } = this.sequence.settings
        const call = resolveTool(withoutMaskingHook(operation, this.left.root, sandbox), this.left.root, sandbox)
        return { played: call, differences: await this.compare(call, (world) => playTool(world, call)) }
      }
      case 'provider': {
        const call = resolveProvider(operation, this.left.root)
        return { played: call, differences: await this.compare(call, (world) => playProvider(world, call)) }
      }
      case 'queue': {
        const first = operation.initial === undefined ? [] : this.change({ do: 'write', path: operation.path, text: [operation.initial] })
        return { played: operation, differences: [...first, ...(await this.compare(operation, (world) => playQueue(world, operation)))] }
      }
      case 'parallel':
        return this.parallel(operation)
    }
  }

  private change(change: Parameters<typeof applyChange>[1]): Difference[] {
    const left = applyChange(this.left.root, change)
    const right = applyChange(this.right.root, change)
    this.clock.tick()
    return left === right ? [] : [{ where: 'outside change', left, right }]
  }

  private async parallel(operation: ParallelOperation): Promise<{ played: unknown; differences: Difference[] }> {
    const calls = operation.calls.map((call) => resolveTool(call, this.left.root))
    const before = snapshot(this.left.root)
    const [left, right] = await this.both((world) => playParallel(world, calls))
    const differences: Difference[] = []
    calls.forEach((call, index) => {
      const pick = (record: PlainObject) => (record.calls as PlainObject[])[index]!
      differences.push(...this.judge(call, pick(left), pick(right), before))
    })
    return { played: { kind: 'parallel', calls }, differences }
  }

  private async compare(call: PlayedCall, play: (world: World) => Promise<PlainObject>): Promise<Difference[]> {
    const before = snapshot(this.left.root)
    const [left, right] = await this.both(play)
    return this.judge(call, left, right, this.left.changedTree ?? before)
  }

  private judge(call: PlayedCall | ToolCall, left: PlainObject, right: PlainObject, before: Tree): Difference[] {
    const leftTree = snapshot(this.left.root)
    const rightTree = snapshot(this.right.root)
    const one: Case = {
      call,
      expected: copyPlain(left),
      actual: right,
      before,
      expectedTree: new Map(leftTree),
      actualTree: rightTree,
      settings: this.sequence.settings,
      problems: [],
      publishedByUs: [],
      root: this.right.root,
    }
    this.note(call, left)
    const used = applyRules(one, this.match.rules)
    const found = firstDifference(one.expected, one.actual, this.pairs)
    const differences = found === undefined ? [] : [found]
    for (const problem of one.problems) differences.push({ where: problem.slice(0, 3), left: problem, right: 'not so' })
    for (const { path: where, ...sides } of treeDifferences(one.expectedTree, rightTree))
      differences.push({ where: `tree ${where}`, ...sides })
    if (differences.length > 0) return differences
    for (const name of used) count(this.used, name)
    this.reunite(leftTree, rightTree, one.publishedByUs)
    // Only our sessions know the version that was published, so what the policy answers differs from here on.
    this.parted ||= one.publishedByUs.length > 0 && this.sequence.settings.policy === true
    return []
  }

  private note(call: PlayedCall | ToolCall, record: PlainObject): void {
    if (call.kind === 'queue') {
      const calls = (record.calls ?? []) as PlainObject[]
      for (const one of calls) count(this.outcomes, `queue ${ending(one)}`)
      return
    }
    count(this.outcomes, `${call.kind} ${call.kind === 'tool' ? call.tool : call.method} ${ending(record)}`)
    const log = (record.log ?? []) as PlainObject[]
    if (call.kind === 'tool' && log.some((entry) => 'asked' in entry)) count(this.outcomes, `asked ${call.answer} ${ending(record)}`)
  }

  /** After an allowed difference both trees get our file, by the same outside write, so that they are equal again. */
  private reunite(left: Tree, right: Tree, publishedByUs: string[]): void {
    const different = treeDifferences(left, right).map((difference) => difference.path)
    for (const name of new Set([...different, ...publishedByUs])) {
      const entry = right.get(name)
      if (entry?.bytes === undefined) throw new Error(`an allowed difference left no file at ${name}`)
      const split = entry.links === undefined && left.get(name)?.links !== undefined
      this.clock.tick()
      for (const world of [this.left, this.right]) {
        const file = path.join(world.root, name)
        overwrite(file, entry.bytes, entry.mode, split)
        // Where only one of them carried the call out, only that one has seen a version.
        world.known.delete(file)
      }
    }
  }
}

function prepare(root: string, sequence: Sequence): void {
  fs.mkdirSync(path.join(root, 'in/work'), { recursive: true })
  for (const change of sequence.setup) applyChange(root, change)
}

async function playIn(base: string, match: Match, sequence: Sequence): Promise<Played> {
  const roots = [path.join(base, 'l'), path.join(base, 'r')] as const
  for (const root of roots) prepare(root, sequence)
  const clock = new Clock(base)
  const left = await World.open(roots[0], match.left, sequence.settings, clock)
  const right = await World.open(roots[1], match.right, sequence.settings, clock)
  const comparison = new Comparison(match, sequence, left, right, clock)
  const played: Played = { operations: 0, used: comparison.used, outcomes: comparison.outcomes }
  const first = await comparison.compareDefinitions()
  if (first.length > 0) played.failure = { index: -1, operation: 'definitions', differences: first }
  for (const [index, operation] of sequence.operations.entries()) {
    if (played.failure !== undefined || comparison.parted) break
    let step: Awaited<ReturnType<Comparison['step']>>
    try {
      step = await comparison.step(operation)
    } catch (error) {
      step = { played: operation, differences: [{ where: 'harness', left: String((error as Error).stack), right: '' }] }
    }
    played.operations++
    if (step.differences.length > 0) played.failure = { index, operation: step.played, differences: step.differences }
  }
  clock.close()
  await left.close()
  await right.close()
  return played
}

/** Plays a sequence on fresh trees: where temporary files are made, or under confinement, which opens that, elsewhere. */
export async function playSequence(match: Match, sequence: Sequence): Promise<Played> {
  const place = sequence.settings.sandbox === undefined ? os.tmpdir() : openOutsideTemporary()
  const base = fs.realpathSync(fs.mkdtempSync(path.join(place, 'dsh-differential-')))
  const { TMPDIR } = process.env
  const umask = process.umask(0o022)
  try {
    return await playIn(base, match, sequence)
  } finally {
    process.umask(umask)
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
    removeTree(base)
  }
}
