/**
 * `npm run test:differential -- [--operations N] [--seed N] [--only N] [--failures N] [--outcomes]`
 *
 * Plays random sequences of operations on the published packages and on ours and compares everything visible.
 * `--operations` how many (default 20000), `--seed` of the run (default: a new one, printed), `--only` one sequence of it,
 * `--failures` how many different ones to look for before stopping (default 1), `--outcomes` counts what was reached.
 * Needs a Node that runs TypeScript (22.19 or later) and the built package.
 * @module
 */
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: 'string' },
    failures: { type: 'string', default: '1' },
    outcomes: { type: 'boolean', default: false },
  },
})

/** @param {'operations' | 'seed' | 'only' | 'failures'} name */
function integer(name) {
  const number = Number(values[name])
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`--${name} takes a whole number`)
  return number
}

const { formatRules, run } = await import('../__test__/differential/run.ts')
const { ourMatches } = await import('../__test__/differential/compositions.ts')

const operations = integer('operations')
const seed = integer('seed')
const start = performance.now()
const seconds = () => ((performance.now() - start) / 1000).toFixed(0)
console.log(`seed ${seed}, ${operations} operations`)
const report = await run({
  matches: await ourMatches(),
  seed,
  operations,
  failures: integer('failures'),
  ...(values.only === undefined ? {} : { only: integer('only') }),
  progress: (played, failed) => console.log(`${seconds()} s: ${played} of ${operations} operations, ${failed} differences`),
})
for (const script of report.failures) console.log(`\n${script}`)
if (values.outcomes) for (const [what, times] of [...report.outcomes].sort()) console.log(`${String(times).padStart(8)}  ${what}`)
console.log(`\nallowed by decision: ${formatRules(report.used)}`)
console.log(`${report.operations} operations in ${seconds()} s, ${report.failures.length} unexpected differences`)
process.exitCode = report.failures.length === 0 ? 0 : 1
