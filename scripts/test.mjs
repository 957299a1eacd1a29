/**
 * `npm test`: the set-up, then all tests of cargo and of vitest. Both are run, also if the first fails.
 * `npm test -- ARGUMENTS`: only vitest, with these arguments (a test file, `-t` and a name, …).
 * @module
 */
import { cargoTest, said, vitest } from './lib/suites.mjs'
import { runCommand, setup } from './setup.mjs'

await runCommand(async () => {
  const args = process.argv.slice(2)
  const ready = await setup()
  /** @type {import("./lib/suites.mjs").Counts[]} */
  const results = []
  if (args.length === 0) {
    console.log('\ncargo test')
    results.push(await cargoTest(ready.env))
  }
  console.log('\nvitest')
  results.push(await vitest(ready, args))
  console.log()
  for (const counts of results) console.log(`${counts.suite.padEnd(8)}${said(counts)}`)
  const sum = (/** @type {'passed' | 'failed'} */ key) => results.reduce((total, counts) => total + counts[key], 0)
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  return sum('failed') === 0 ? 0 : 1
})
