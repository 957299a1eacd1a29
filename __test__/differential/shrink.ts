/** Makes a failing sequence small: fewer operations, a smaller tree, shorter texts, plainer calls. */

import type { Operation, Piece, Sequence, Text } from './operations.ts'
import type { Failure } from './play.ts'

/** Plays a candidate. @returns its failure, if it fails. */
export type Trial = (sequence: Sequence) => Promise<Failure | undefined>

/** Two failures count as the same if the same kind of operation differs at the same place. */
export function signature(failure: Failure): string {
  const { kind, tool, method } = failure.operation as { kind?: string; tool?: string; method?: string }
  const where = failure.differences[0]!.where.replace(/[0-9]+/g, '#').replace(/^tree .*/, 'tree')
  return [kind, tool ?? method, where].join(' ')
}

/** Keys that an operation, or its arguments, can do without. */
const OPTIONAL = [
  ...['hook', 'signal', 'cwd', 'target', 'guard', 'replace_all', 'replaceAll', 'offset', 'limit'],
  ...['policy', 'answer', 'sandbox_permissions', 'justification'],
]

/** Every value that results from a simpler text somewhere inside, or from leaving an optional key out. */
function* simpler(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) yield [...value.slice(0, i), ...value.slice(i + 1)]
    for (let i = 0; i < value.length; i++) for (const item of simpler(value[i])) yield value.map((old, index) => (index === i ? item : old))
  } else if (typeof value === 'object' && value !== null) {
    const record = value as Record<string, unknown>
    for (const key of OPTIONAL) {
      const { [key]: removed, ...rest } = record
      if (removed !== undefined) yield rest
    }
    if (typeof record.times === 'number' && record.times > 1) {
      for (const times of [1, record.times >> 1, record.times - 1]) yield { ...record, times }
    }
    for (const key of Object.keys(record)) for (const item of simpler(record[key])) yield { ...record, [key]: item }
  }
}

/** Joins neighbouring pieces of a text that are plain strings, so that scripts read better. */
function joinPieces(text: Text): Text {
  const joined: Piece[] = []
  for (const piece of text) {
    const last = joined.at(-1)
    if (typeof piece === 'string' && typeof last === 'string') joined[joined.length - 1] = last + piece
    else joined.push(piece)
  }
  return joined
}

class Shrinker {
  private best: Sequence
  private attempts: number
  private readonly trial: Trial
  private readonly wanted: string

  constructor(sequence: Sequence, trial: Trial, wanted: string, attempts: number) {
    this.best = sequence
    this.trial = trial
    this.wanted = wanted
    this.attempts = attempts
  }

  private async accept(candidate: Sequence): Promise<boolean> {
    if (this.attempts <= 0) return false
    this.attempts--
    const failure = await this.trial(candidate)
    if (failure === undefined || signature(failure) !== this.wanted) return false
    this.best = { ...candidate, operations: candidate.operations.slice(0, failure.index + 1) }
    return true
  }

  /** Drops stretches of a list, halving their length until single elements remain. */
  private async dropFrom(key: 'operations' | 'setup'): Promise<void> {
    for (let size = Math.max(1, this.best[key].length >> 1); size >= 1; size = size >> 1) {
      for (let start = 0; start < this.best[key].length; ) {
        const list: unknown[] = [...this.best[key]]
        list.splice(start, size)
        if (!(await this.accept({ ...this.best, [key]: list }))) start += size
      }
    }
  }

  private async dropSettings(): Promise<void> {
    for (const key of Object.keys(this.best.settings)) {
      const { [key]: _dropped, ...settings } = this.best.settings as unknown as Record<string, unknown>
      await this.accept({ ...this.best, settings: { policy: false, ...settings } as Sequence['settings'] })
    }
  }

  /** Simplifies one element of a list as long as that keeps the failure. */
  private async simplify(key: 'operations' | 'setup'): Promise<void> {
    for (let i = this.best[key].length - 1; i >= 0; i--) {
      for (let again = true; again && this.attempts > 0; ) {
        again = false
        for (const item of simpler(this.best[key][i])) {
          const list = this.best[key].map((old: unknown, index: number) => (index === i ? item : old))
          again = await this.accept({ ...this.best, [key]: list } as Sequence)
          if (again || this.attempts <= 0) break
        }
        if (this.best[key][i] === undefined) break
      }
    }
  }

  async run(): Promise<Sequence> {
    await this.dropFrom('operations')
    await this.dropFrom('setup')
    await this.dropSettings()
    await this.simplify('operations')
    await this.simplify('setup')
    await this.dropFrom('operations')
    return this.best
  }
}

/**
 * @param failure of the whole sequence.
 * @param attempts how many candidates may be played.
 * @returns a smaller sequence that fails in the same way.
 */
export async function shrink(sequence: Sequence, failure: Failure, trial: Trial, attempts = 500): Promise<Sequence> {
  const start: Sequence = { ...sequence, operations: sequence.operations.slice(0, failure.index + 1) }
  return new Shrinker(
    start,
    async (candidate) => {
      try {
        return await trial(candidate)
      } catch {
        // A candidate that lost a needed part of its shape is not a smaller failure.
        return undefined
      }
    },
    signature(failure),
    attempts,
  ).run()
}

/** @returns the sequence with its texts in as few pieces as possible. */
export function tidy(sequence: Sequence): Sequence {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        (key === 'text' || key === 'content') && Array.isArray(item) ? joinPieces(item as Text) : visit(item),
      ]),
    )
  }
  return { ...sequence, setup: visit(sequence.setup) as Sequence['setup'], operations: visit(sequence.operations) as Operation[] }
}
