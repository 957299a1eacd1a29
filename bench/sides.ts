/**
 * The names of the two sides.
 * @module
 */

export type Side = 'ours' | 'original'

export const SIDES: readonly Side[] = ['original', 'ours']

/** `BENCH_OURS=original` puts the original on both sides: all ratios should then be near 1, and how near is the noise. */
export function isNoiseRun(): boolean {
  return process.env['BENCH_OURS'] === 'original'
}
