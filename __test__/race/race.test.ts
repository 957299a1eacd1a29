/** A short race of each kind. A long one: `npm run test:race`. */
import { execFileSync } from 'node:child_process'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildPrograms, type Programs } from './programs.ts'
import { describeResult, ORIGINAL, OURS, race } from './race.ts'
import { total } from './watch.ts'

const SEED = 1

describe.runIf(process.platform === 'linux')('a directory of the workspace is swapped for a link that leads out', () => {
  let programs: Programs
  beforeAll(async () => {
    programs = await buildPrograms()
  })

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
    const result = await race(programs, { provider: OURS, seconds: 2, seed: SEED, withoutOpenat2 })
    const { swaps, report, escapes } = result
    expect(escapes, describeResult(result)).toEqual({ added: 0, changed: 0, removed: 0, touched: 0 })
    expect(report.untyped, describeResult(result)).toBe(0)
    // Both sides must have been at work, or the outcome says nothing.
    for (const count of [swaps.exchanges, swaps.renames, report.successes, report.codes['FS_SANDBOX_DENIED']]) {
      expect(count, describeResult(result)).toBeGreaterThan(0)
    }
  })
})
