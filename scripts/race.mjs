/**
 * `npm run test:race -- [--seconds N] [--seed N]`
 *
 * Writes and edits through the confining provider while a directory of the workspace is swapped for a link that leads out
 * of it, and looks for changes outside: ours with and without the system call `openat2`, and the original, which must
 * lose. `--seconds` of each of our races (default 60; the original's takes a tenth, at least 5), `--seed` of the run (default: a
 * new one, printed). Needs Linux, cargo, a Node that runs TypeScript (22.19 or later) and the built package.
 * @module
 */
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
})

/** @param {'seconds' | 'seed'} name */
function integer(name) {
  const number = Number(values[name])
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`--${name} takes a whole number`)
  return number
}

const { buildPrograms } = await import('../__test__/race/programs.ts')
const { describeResult, ORIGINAL, OURS, race } = await import('../__test__/race/race.ts')
const { total } = await import('../__test__/race/watch.ts')

const seconds = integer('seconds')
const seed = integer('seed')
console.log(`seed ${seed}, ${seconds} seconds`)
const programs = await buildPrograms()

/** @param {string} title @param {import('../__test__/race/race.ts').Race} options */
async function show(title, options) {
  const result = await race(programs, options)
  console.log(`\n${title}\n${describeResult(result)}`)
  return result
}

const original = await show('the original', { provider: ORIGINAL, seconds: Math.max(5, seconds / 10), seed })
const ours = [
  await show('ours', { provider: OURS, seconds, seed }),
  await show('ours, without openat2', { provider: OURS, seconds, seed, withoutOpenat2: true }),
]
const problems = [
  ...(total(original.escapes) === 0 ? ['the original did not lose: the race proves nothing'] : []),
  ...(ours.some(({ escapes }) => total(escapes) > 0) ? ['ours let a change escape'] : []),
  ...(ours.some(({ report }) => report.untyped > 0) ? ['ours rejected with an untyped error'] : []),
]
console.log(`\n${problems.length === 0 ? 'nothing escaped from ours' : problems.join('\n')}`)
process.exitCode = problems.length === 0 ? 0 : 1
