/**
 * Measures one case on both sides.
 *
 * Each side has processes of its own, so neither inherits the other's compiled code or garbage. Times come from pairs
 * of warmed processes that are asked in turn, the first one changing each round; memory and stalls come from fresh
 * processes that take no part in the timing.
 * @module
 */
import type { BenchCase, Work } from './cases.ts'
import { ensureData, type Places } from './data.ts'
import { MeasuredProcess } from './process.ts'
import type { Fresh } from './protocol.ts'
import { SIDES, type Side } from './sides.ts'
import { median, type Spread, spread } from './stats.ts'

/** How much is measured. Times in milliseconds. */
export interface Effort {
  /** Timing of one case, warm-up aside. */
  readonly budget: number
  /** Warm-up of one process. */
  readonly warm: number
  /** Least length of a sample; shorter calls are repeated within it. */
  readonly sample: number
  readonly minRounds: number
  readonly maxRounds: number
  /** Pairs of processes a case; each takes its share of the rounds. */
  readonly pairs: number
  /** Fresh processes a side for memory and stalls. */
  readonly fresh: number
  /** Calls watched for stalls in a fresh process. */
  readonly stalls: number
}

export const FULL: Effort = { budget: 2000, warm: 250, sample: 5, minRounds: 6, maxRounds: 60, pairs: 2, fresh: 2, stalls: 200 }
export const QUICK: Effort = { budget: 400, warm: 150, sample: 3, minRounds: 5, maxRounds: 15, pairs: 1, fresh: 1, stalls: 50 }

/** A case is slower when at least three quarters of its paired ratios are below this, in two measurements apart. */
export const SLOWER_BELOW = 0.95

/** Where one call of both sides takes longer than this, in milliseconds, one pair and one fresh process a side must do. */
const LONG_CALLS = 1000

export interface SideFigures {
  /** Milliseconds a call, one number a round. */
  readonly times: readonly number[]
  readonly time: Spread
  /** Growth of the resident set during a first call, at its peak, in bytes. For the start: the whole process. */
  readonly memory: number
  /** Longest stall of the event loop in a call, in milliseconds. Null where it has no meaning. */
  readonly stall: number | null
  /** Time and longest stall of a first call in a fresh process, in milliseconds. */
  readonly firstMs: number
  readonly firstStall: number | null
}

export interface CaseResult {
  readonly id: string
  readonly group: string
  readonly once: boolean
  readonly sides: Readonly<Record<Side, SideFigures>>
  /** Original's time by ours, one number a round: above 1 ours is quicker. */
  readonly ratios: readonly number[]
  readonly ratio: Spread
  /** Stalls seen by the probe with nothing to do, in milliseconds. */
  readonly idle: readonly number[]
  /** Slower than the original by the rule of {@link SLOWER_BELOW}. */
  readonly slower: boolean
}

type Both<T> = Record<Side, T>

/** Both sides in turn, the first one changing with `round`; one after the other, never at once. */
async function inTurn<T>(round: number, work: (side: Side) => Promise<T>): Promise<Both<T>> {
  const order = round % 2 === 0 ? SIDES : SIDES.toReversed()
  const found: Partial<Both<T>> = {}
  for (const side of order) found[side] = await work(side)
  return found as Both<T>
}

function launch(side: Side, places: Places, work: Work, role: 'time' | 'fresh' | 'start'): MeasuredProcess {
  // Names of one length, so that no path is longer on one side.
  return new MeasuredProcess({ side, places, work, name: `${side === 'ours' ? 'a' : 'b'}-${role}` }, role === 'fresh')
}

/** Gives `use` a process of each side and ends both after it. */
async function withPair<T>(places: Places, work: Work, use: (pair: Both<MeasuredProcess>) => Promise<T>): Promise<T> {
  const pair: Both<MeasuredProcess> = { original: launch('original', places, work, 'time'), ours: launch('ours', places, work, 'time') }
  try {
    return await use(pair)
  } finally {
    await Promise.all([pair.original.end(), pair.ours.end()])
  }
}

/** One time a side and round. */
type Rounds = Both<number[]>

/** Times one pair. Gives whether it was the last one. */
async function timePair(pair: Both<MeasuredProcess>, effort: Effort, into: Rounds): Promise<boolean> {
  await inTurn(0, (side) => pair[side].ask({ kind: 'prepare' }))
  const digests = await inTurn(0, (side) => pair[side].ask({ kind: 'verify' }))
  if (digests.ours !== digests.original) throw new Error('the two sides gave different results')
  const single = await inTurn(0, (side) => pair[side].ask({ kind: 'warm', ms: effort.warm }))
  const calls = (side: Side): number => Math.max(1, Math.ceil(effort.sample / single[side]))
  const roundTime = SIDES.reduce((sum, side) => sum + calls(side) * single[side], 0)
  const affordable = Math.floor(effort.budget / roundTime)
  const pairs = roundTime > LONG_CALLS ? 1 : effort.pairs
  const rounds = Math.ceil(Math.min(effort.maxRounds, Math.max(effort.minRounds, affordable)) / pairs)
  for (let round = 0; round < rounds; round++) {
    const times = await inTurn(round, (side) => pair[side].ask({ kind: 'sample', calls: calls(side) }))
    for (const side of SIDES) into[side].push(times[side])
  }
  return pairs === 1
}

async function timeWarm(entry: BenchCase, places: Places, effort: Effort): Promise<Rounds> {
  const rounds: Rounds = { original: [], ours: [] }
  for (let number = 0; number < effort.pairs; number++) {
    if (await withPair(places, entry.work, (pair) => timePair(pair, effort, rounds))) break
  }
  return rounds
}

/** Fresh processes of both sides in turn. */
async function runFresh(entry: BenchCase, places: Places, effort: Effort): Promise<Both<Fresh[]>> {
  const found: Both<Fresh[]> = { original: [], ours: [] }
  for (let number = 0; number < effort.fresh; number++) {
    const pair = await inTurn(number, async (side) => {
      const child = launch(side, places, entry.work, 'fresh')
      try {
        return await child.ask({ kind: 'fresh', ms: entry.once ? 0 : effort.stalls })
      } finally {
        await child.end()
      }
    })
    for (const side of SIDES) found[side].push(pair[side])
    if (pair.original.firstMs + pair.ours.firstMs > LONG_CALLS) break
  }
  return found
}

/** The start of a whole process, in fresh processes only. */
async function timeStart(entry: BenchCase, places: Places, effort: Effort): Promise<{ rounds: Rounds; memory: Both<number[]> }> {
  const rounds: Rounds = { original: [], ours: [] }
  const memory: Both<number[]> = { original: [], ours: [] }
  for (let round = 0; round < effort.minRounds * 2; round++) {
    const found = await inTurn(round, async (side) => {
      const child = launch(side, places, entry.work, 'start')
      try {
        return await child.ask({ kind: 'start' })
      } finally {
        await child.end()
      }
    })
    for (const side of SIDES) {
      rounds[side].push(found[side].ms)
      memory[side].push(found[side].memory)
    }
  }
  return { rounds, memory }
}

function figures(times: readonly number[], fresh: readonly Fresh[]): SideFigures {
  const further = fresh.flatMap((one) => one.stalls)
  const firstStall = median(fresh.map((one) => one.firstStall))
  return {
    times,
    time: spread(times),
    memory: median(fresh.map((one) => one.memory)),
    stall: further.length > 0 ? median(further) : firstStall,
    firstMs: median(fresh.map((one) => one.firstMs)),
    firstStall,
  }
}

function paired(rounds: Rounds): number[] {
  return rounds.original.map((time, round) => time / (rounds.ours[round] ?? Number.NaN))
}

function result(entry: BenchCase, rounds: Rounds, sides: Both<SideFigures>, idle: readonly number[]): CaseResult {
  const ratios = paired(rounds)
  const ratio = spread(ratios)
  return { id: entry.id, group: entry.group, once: entry.once, sides, ratios, ratio, idle, slower: ratio.q3 < SLOWER_BELOW }
}

async function measureOnce(entry: BenchCase, places: Places, effort: Effort): Promise<CaseResult> {
  if (entry.work.kind === 'start') {
    const { rounds, memory } = await timeStart(entry, places, effort)
    const of = (side: Side): SideFigures => {
      const time = spread(rounds[side])
      return { times: rounds[side], time, memory: median(memory[side]), stall: null, firstMs: time.median, firstStall: null }
    }
    return result(entry, rounds, { original: of('original'), ours: of('ours') }, [])
  }
  const warm = entry.once ? undefined : await timeWarm(entry, places, effort)
  const fresh = await runFresh(entry, places, effort)
  const rounds = warm ?? { original: fresh.original.map((one) => one.firstMs), ours: fresh.ours.map((one) => one.firstMs) }
  const idle = SIDES.flatMap((side) => fresh[side].map((one) => one.idle))
  const sides = { original: figures(rounds.original, fresh.original), ours: figures(rounds.ours, fresh.ours) }
  return result(entry, rounds, sides, idle)
}

/**
 * Measures one case. One that looks slower is measured once more, and is slower only if it is so again; its figures
 * are then those of the second measurement.
 * Throws if a call fails on either side or the two sides give different results.
 */
export async function measure(entry: BenchCase, places: Places, effort: Effort): Promise<CaseResult> {
  ensureData(places, entry.work.kind === 'start' ? { kind: 'stat', text: { bytes: 1024 } } : entry.work)
  const first = await measureOnce(entry, places, effort)
  return first.slower ? await measureOnce(entry, places, effort) : first
}
