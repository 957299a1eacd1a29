/** Seeded random numbers: the same seed gives the same sequence on every machine. */

/** Mixes two 32-bit numbers into a seed, so that every sequence of a run has its own. */
export function mixSeeds(seed: number, index: number): number {
  let x = (seed ^ Math.imul(index + 1, 0x9e3779b1)) >>> 0
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
  return (x ^ (x >>> 15)) >>> 0
}

/** The mulberry32 generator with the few draws the sequence generator needs. */
export class Random {
  private state: number

  /** @param seed any integer; only its low 32 bits count. */
  constructor(seed: number) {
    this.state = seed >>> 0
  }

  /** @returns a number in [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let t = this.state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  /** @returns an integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  /** @returns true with the given probability. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** @returns one element, all equally likely. */
  pick<T>(list: readonly T[]): T {
    const value = list[Math.floor(this.next() * list.length)]
    if (value === undefined && list.length === 0) throw new Error('pick from an empty list')
    return value as T
  }

  /** @returns the value of one row, drawn by the rows' weights. */
  weighted<T>(rows: readonly (readonly [weight: number, value: T])[]): T {
    let rest = this.next() * rows.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, value] of rows) {
      rest -= weight
      if (rest < 0) return value
    }
    return rows[rows.length - 1]![1]
  }

  /** @returns a list of `count` drawn values. */
  times<T>(count: number, draw: () => T): T[] {
    return Array.from({ length: count }, draw)
  }
}
