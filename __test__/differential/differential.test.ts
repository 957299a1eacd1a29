/** The published originals and ours, whole and part by part, over random sequences with fixed seeds. */
import { describe, expect, test } from 'vitest'
import { ourMatches } from './compositions.ts'
import { formatRules, run } from './run.ts'

/** Operations for each seed: together the 5,000 of a test run. More with `npm run test:differential`. */
const RUNS = [
  [101, 2500],
  [202, 2500],
] as const

describe('originals and ours', () => {
  for (const [seed, operations] of RUNS) {
    test(`differ only by decision: ${operations} operations of seed ${seed}`, async () => {
      const report = await run({ matches: await ourMatches(), seed, operations })
      console.log(`seed ${seed}: ${report.operations} operations; allowed by decision: ${formatRules(report.used)}`)
      expect(report.failures.join('\n')).toBe('')
      expect(report.operations).toBeGreaterThanOrEqual(operations)
    })
  }
})
