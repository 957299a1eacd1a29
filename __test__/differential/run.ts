/** Plays many sequences, each with a composition in turn, and reports what differed. */
import { RULE_NAMES, type RuleName } from './case.ts'
import { generateSequence } from './generate.ts'
import type { Sequence } from './operations.ts'
import { count, type Failure, type Match, playSequence } from './play.ts'
import { mixSeeds } from './random.ts'
import { formatFailure } from './script.ts'
import { shrink, signature, tidy } from './shrink.ts'

/** Operations of one sequence: long enough for state to build up, short enough to shrink fast. */
const SEQUENCE_LENGTH = 25

export interface RunOptions {
  matches: readonly Match[]
  seed: number
  operations: number
  /** Plays only the sequence with this number. */
  only?: number
  /** Stops after so many different failures; 1 unless given. */
  failures?: number
  /** Whether failing sequences are made small before they are reported; true unless given. */
  shrink?: boolean
  /** Called every few seconds with the operations played and the kinds of failures found so far. */
  progress?: (played: number, failures: number) => void
}

export interface RunReport {
  operations: number
  used: Map<RuleName, number>
  outcomes: Map<string, number>
  /** One readable script for each kind of failure. */
  failures: string[]
}

/** @returns the counts of the rules in one line. */
export function formatRules(used: Map<RuleName, number>): string {
  return [...RULE_NAMES.map((name) => `${name} ${used.get(name) ?? 0}`), 'D19 needs none'].join(', ')
}

/** What failed, and where in the run. */
interface Found {
  match: Match
  seed: number
  number: number
  sequence: Sequence
  failure: Failure
}

/** @returns the failure as a readable script, of a smaller sequence unless `small` is false. */
async function explain(found: Found, small: boolean): Promise<string> {
  const { match, seed, number, sequence, failure } = found
  const trial = async (candidate: Sequence) => (await playSequence(match, candidate)).failure
  const smaller = small ? tidy(await shrink(sequence, failure, trial)) : sequence
  const again = small ? await trial(smaller) : failure
  return formatFailure(match.name, seed, number, again === undefined ? sequence : smaller, again ?? failure)
}

/** Plays sequences until enough operations were played. The same options give the same run. */
export async function run(options: RunOptions): Promise<RunReport> {
  const report: RunReport = { operations: 0, used: new Map(), outcomes: new Map(), failures: [] }
  const seen = new Set<string>()
  let reported = Date.now()
  for (let number = options.only ?? 0; report.operations < options.operations; number++) {
    const match = options.matches[number % options.matches.length]!
    const sequence = generateSequence(mixSeeds(options.seed, number), SEQUENCE_LENGTH)
    const played = await playSequence(match, sequence)
    report.operations += played.operations
    for (const [name, times] of played.used) count(report.used, name, times)
    for (const [name, times] of played.outcomes) count(report.outcomes, name, times)
    if (played.failure !== undefined && !seen.has(signature(played.failure))) {
      seen.add(signature(played.failure))
      const found = { match, seed: options.seed, number, sequence, failure: played.failure }
      report.failures.push(await explain(found, options.shrink ?? true))
      if (report.failures.length >= (options.failures ?? 1)) break
    }
    if (options.only !== undefined) break
    if (Date.now() - reported > 5000) {
      reported = Date.now()
      options.progress?.(report.operations, report.failures.length)
    }
  }
  return report
}
