/**
 * Order statistics.
 * @module
 */

/** Quantile `q` (0 to 1) of a list that is not empty, linear between neighbours. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const low = sorted[Math.floor(at)]
  const high = sorted[Math.ceil(at)]
  if (low === undefined || high === undefined) throw new RangeError('quantile of an empty list')
  return low + (high - low) * (at - Math.floor(at))
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The quartiles of a list that is not empty. */
export interface Spread {
  readonly q1: number
  readonly median: number
  readonly q3: number
}

export function spread(values: readonly number[]): Spread {
  return { q1: quantile(values, 0.25), median: median(values), q3: quantile(values, 0.75) }
}
