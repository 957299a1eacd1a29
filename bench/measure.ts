/**
 * Measures one case on both sides.
 *
 * Each side has processes of its own, so neither inherits the other's compiled code or garbage. Times come from pairs
 * of warmed processes that are asked in turn, the first one changing each round; stalls from the same processes once
 * the timing is over; memory from fresh processes.
 * @module
 */
import type { BenchCase, Work } from './cases.ts'
import { ensureData, type Places } from './data.ts'
import { MeasuredProcess } from './process.ts'
import type { Fresh } from './protocol.ts'
import { SIDES, type Side } from './sides.ts'
import { median, medianUpperBound, type Spread, spread } from './stats.ts'

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
  /** Pairs of processes a case; each takes its share of the rounds, as one process may be quicker than its like for its whole life. */
  readonly pairs: number
  /** Fresh processes a side for memory and first calls. */
  readonly fresh: number
  /** Calls watched for stalls, in each warmed process once its timing is over. */
  readonly stalls: number
}

export const FULL: Effort = { budget: 2000, warm: 250, sample: 5, minRounds: 6, maxRounds: 60, pairs: 3, fresh: 2, stalls: 200 }
export const QUICK: Effort = { budget: 400, warm: 150, sample: 3, minRounds: 5, maxRounds: 15, pairs: 1, fresh: 1, stalls: 50 }

/** A case is slower when the median of its paired ratios is surely (95 %) below this, in two measurements apart. */
export const SLOWER_BELOW = 0.95

/** Where one call of both sides takes longer than this, in milliseconds, one pair and one fresh process a side must do. */
const LONG_CALLS = 1000

export interface SideFigures {
  /** Milliseconds a call, one number a round. */
  readonly times: readonly number[]
  readonly time: Spread
  /** Growth of the resident set during a first call, at its peak, in bytes. For the start: the whole process. */
  readonly memory: number
  /** Longest stall of the event loop in a warm call, in milliseconds. Null where it has no meaning. */
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
  /** Upper end of the 95 % confidence interval of the median ratio. */
  readonly atMost: number
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

/** What warmed processes found. */
interface Warm {
  readonly rounds: Rounds
  readonly stalls: Both<number[]>
  readonly idle: number[]
}

/** Measures one pair. Gives whether it was the last one. */
async function runPair(pair: Both<MeasuredProcess>, effort: Effort, into: Warm): Promise<boolean> {
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
    for (const side of SIDES) into.rounds[side].push(times[side])
  }
  const stalls = await inTurn(0, (side) => pair[side].ask({ kind: 'stalls', ms: effort.stalls }))
  for (const side of SIDES) {
    into.stalls[side].push(...stalls[side].calls)
    into.idle.push(stalls[side].idle)
  }
  return pairs === 1
}

async function runWarm(entry: BenchCase, places: Places, effort: Effort): Promise<Warm> {
  const warm: Warm = { rounds: { original: [], ours: [] }, stalls: { original: [], ours: [] }, idle: [] }
  for (let number = 0; number < effort.pairs; number++) {
    if (await withPair(places, entry.work, (pair) => runPair(pair, effort, warm))) break
  }
  return warm
}

/** Fresh processes of both sides in turn. */
async function runFresh(entry: BenchCase, places: Places, effort: Effort): Promise<Both<Fresh[]>> {
  const found: Both<Fresh[]> = { original: [], ours: [] }
  for (let number = 0; number < effort.fresh; number++) {
    const pair = await inTurn(number, async (side) => {
      const child = launch(side, places, entry.work, 'fresh')
      try {
        return await child.ask({ kind: 'fresh' })
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

/** @param stalls - of warm calls; where there are none, those of the first calls stand for them. */
function figures(times: readonly number[], stalls: readonly number[], fresh: readonly Fresh[]): SideFigures {
  const firstStall = median(fresh.map((one) => one.firstStall))
  return {
    times,
    time: spread(times),
    memory: median(fresh.map((one) => one.memory)),
    stall: stalls.length > 0 ? median(stalls) : firstStall,
    firstMs: median(fresh.map((one) => one.firstMs)),
    firstStall,
  }
}

function result(entry: BenchCase, rounds: Rounds, sides: Both<SideFigures>, idle: readonly number[]): CaseResult {
  const ratios = rounds.original.map((time, round) => time / (rounds.ours[round] ?? Number.NaN))
  const atMost = medianUpperBound(ratios)
  const { id, group, once } = entry
  return { id, group, once, sides, ratios, ratio: spread(ratios), idle, atMost, slower: atMost < SLOWER_BELOW }
}

async function measureStart(entry: BenchCase, places: Places, effort: Effort): Promise<CaseResult> {
  const { rounds, memory } = await timeStart(entry, places, effort)
  const of = (side: Side): SideFigures => {
    const time = spread(rounds[side])
    return { times: rounds[side], time, memory: median(memory[side]), stall: null, firstMs: time.median, firstStall: null }
  }
  return result(entry, rounds, { original: of('original'), ours: of('ours') }, [])
}

/** First calls only, timed in the fresh processes. */
async function measureFirstCalls(entry: BenchCase, places: Places, effort: Effort): Promise<CaseResult> {
  const fresh = await runFresh(entry, places, effort)
  const rounds = { original: fresh.original.map((one) => one.firstMs), ours: fresh.ours.map((one) => one.firstMs) }
  const sides = { original: figures(rounds.original, [], fresh.original), ours: figures(rounds.ours, [], fresh.ours) }
  return result(entry, rounds, sides, [])
}

async function measureWarm(entry: BenchCase, places: Places, effort: Effort): Promise<CaseResult> {
  const { rounds, stalls, idle } = await runWarm(entry, places, effort)
  const fresh = await runFresh(entry, places, effort)
  const of = (side: Side): SideFigures => figures(rounds[side], stalls[side], fresh[side])
  return result(entry, rounds, { original: of('original'), ours: of('ours') }, idle)
}

async function measureOnce(entry: BenchCase, places: Places, effort: Effort): Promise<CaseResult> {
  if (entry.work.kind === 'start') return await measureStart(entry, places, effort)
  return entry.once ? await measureFirstCalls(entry, places, effort) : await measureWarm(entry, places, effort)
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
