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

/** Chance that at least `k` of `n` fair coins show heads. */
function atLeastHeads(n: number, k: number): number {
  let chance = 0.5 ** n
  let sum = 0
  for (let heads = 0; heads <= n; heads++) {
    if (heads >= k) sum += chance
    chance *= (n - heads) / (heads + 1)
  }
  return sum
}

/**
 * Upper end of the 95 % confidence interval of the median, from the order of the values alone (the sign test). Below
 * six values the largest one, which is then less sure.
 */
export function medianUpperBound(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  // The median lies above the k-th value only if at least k of n values fell below it.
  const bound = sorted.find((_, index) => atLeastHeads(sorted.length, index + 1) <= 0.025) ?? sorted.at(-1)
  if (bound === undefined) throw new RangeError('bound of an empty list')
  return bound
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
