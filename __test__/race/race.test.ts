/** A short race of each kind. A long one: `npm run test:race`. */
import { execFileSync } from 'node:child_process'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildPrograms, type Programs } from './programs.ts'
import { describeResult, ORIGINAL, OURS, type Race, type Result, race } from './race.ts'
import { total } from './watch.ts'

const SEED = 1

describe.runIf(process.platform === 'linux')('a directory of the workspace is swapped for a link that leads out', () => {
  let programs: Programs
  beforeAll(async () => {
    programs = await buildPrograms()
  })

  /** Both sides of the race must have been at work, or the outcome says nothing. */
  async function fairRace(options: Omit<Race, 'seed'>): Promise<Result> {
    const result = await race(programs, { seed: SEED, ...options })
    const { swaps, report } = result
    expect(swaps.exchanges, describeResult(result)).toBeGreaterThan(0)
    expect(swaps.renames, describeResult(result)).toBeGreaterThan(0)
    expect(report.successes, describeResult(result)).toBeGreaterThan(0)
    expect(report.codes['FS_SANDBOX_DENIED'], describeResult(result)).toBeGreaterThan(0)
    return result
  }

  test('the original lets writes escape, so this race is one that can be lost', async () => {
    const result = await race(programs, { provider: ORIGINAL, seconds: 15, seed: SEED, untilEscape: true })
    expect(total(result.escapes), describeResult(result)).toBeGreaterThan(0)
  })

  test('the launcher makes openat2 answer ENOSYS', () => {
    execFileSync(programs.withoutOpenat2, ['--probe'])
  })

  test.each([
    ['with openat2', false],
    ['without openat2', true],
  ])('ours changes nothing outside and rejects with typed errors, %s', async (_name, withoutOpenat2) => {
    const result = await fairRace({ provider: OURS, seconds: 2, withoutOpenat2 })
    expect(result.escapes, describeResult(result)).toEqual({ added: 0, changed: 0, removed: 0, touched: 0 })
    expect(result.report.untyped, describeResult(result)).toBe(0)
  })
})
