/** The comparison itself: it finds nothing where nothing differs, and each deliberate fault where there is one. */
import { describe, expect, test } from 'vitest'
import { PROVIDER_RULES, TOOL_RULES } from './case.ts'
import { matchOf } from './compositions.ts'
import { generateSequence } from './generate.ts'
import { mutantMatches } from './mutants.ts'
import { run } from './run.ts'

const FAULT_LIMIT = 3000

describe('originals against originals', () => {
  test('differ nowhere', async () => {
    const matches = [matchOf('originals', {}, false), matchOf('originals, provider overridden', {}, true)]
    const report = await run({ matches, seed: 20, operations: 1500 })
    expect(report.failures).toEqual([])
    expect(report.operations).toBeGreaterThanOrEqual(1500)
  })

  test('do not pass for ours: each decision in force is demanded, not only allowed', async () => {
    const matches = [matchOf('originals under our rules', {}, false, [...PROVIDER_RULES, ...TOOL_RULES])]
    const report = await run({ matches, seed: 21, operations: 2500, failures: 20, shrink: false })
    const text = report.failures.join('\n')
    for (const name of ['D11', 'D18']) expect(text).toContain(`at ${name}:`)
    // D13 and D14 rewrite what is expected, so there the original shows a plain difference.
    expect(text).toContain('binary file')
    expect(text).toContain('line truncated')
  })

  test('the sequences reach successes and the codes of the contract', async () => {
    const report = await run({ matches: [matchOf('originals', {}, false)], seed: 25, operations: 2500 })
    const reached = [...report.outcomes.keys()]
    for (const call of ['tool read', 'tool write', 'tool edit', 'provider editText', 'provider writeText', 'provider listDir', 'queue']) {
      expect(report.outcomes.get(`${call} ok`), call).toBeGreaterThan(3)
    }
    for (const code of [
      'FS_NOT_FOUND',
      'FS_NOT_DIRECTORY',
      'FS_NOT_TEXT',
      'FS_NOT_REGULAR_FILE',
      'FS_TOO_LARGE',
      'FS_IO_ERROR',
      'FS_STALE_VERSION',
      'FS_NOT_OBSERVED',
      'FS_AMBIGUOUS_EDIT',
      'FS_EDIT_NOT_FOUND',
      'FS_ABORTED',
      'INVALID_ARGS',
      'ABORTED_BEFORE_DISPATCH',
      'ENAMETOOLONG',
      'FS_SANDBOX_DENIED',
    ]) {
      expect(
        reached.some((outcome) => outcome.endsWith(` ${code}`)),
        code,
      ).toBe(true)
    }
    for (const answer of ['allowed-once', 'rejected', 'cancelled', 'unavailable', 'pass', 'throw', 'abort']) {
      expect(
        reached.some((outcome) => outcome.startsWith(`asked ${answer} `)),
        answer,
      ).toBe(true)
    }
    expect(report.outcomes.get('asked allowed-once ok')).toBeGreaterThan(0)
  })
})

describe('a seed', () => {
  test('always gives the same sequence', () => {
    expect(generateSequence(7, 25)).toEqual(generateSequence(7, 25))
    expect(generateSequence(7, 25)).not.toEqual(generateSequence(8, 25))
  })

  test('always gives the same failure, made small', async () => {
    const matches = mutantMatches().filter((match) => match.name === 'tools: wrong footer')
    const [first, second] = [await run({ matches, seed: 4, operations: 500 }), await run({ matches, seed: 4, operations: 500 })]
    expect(first.failures).toHaveLength(1)
    expect(first.failures).toEqual(second.failures)
    expect(first.failures[0]).toContain('> 1. tool {"tool":"read"')
  })
})

describe('a deliberate fault is found', () => {
  for (const match of mutantMatches()) {
    test(match.name, async () => {
      const report = await run({ matches: [match], seed: 5, operations: FAULT_LIMIT, shrink: false })
      expect(report.failures).toHaveLength(1)
      expect(report.failures[0]).not.toContain('at harness:')
    })
  }
})
