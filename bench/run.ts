/**
 * `npm run bench`: ours and the published originals side by side.
 *
 * Ends with 0; with 1 if a case is slower than the original beyond noise, or failed; with 2 if it could not run.
 * @module
 */
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { allCases, type BenchCase, GB } from './cases.ts'
import { chart } from './chart.ts'
import { type Places, textsOf } from './data.ts'
import { memory, ratio, stall, time } from './format.ts'
import { describeMachine, fileSystemOf } from './machine.ts'
import { type CaseResult, type Effort, FULL, measure, QUICK } from './measure.ts'
import { makePlaces } from './places.ts'
import { endAll } from './process.ts'
import { type Failure, json, markdown, type Run, ruleText, undecided } from './report.ts'
import { isNoiseRun } from './sides.ts'

const HELP = `npm run bench -- [options]
  --quick           small cases, few rounds, under a minute
  --only PATTERN    cases whose name matches the regular expression, case ignored
  --write           write bench/results.md, bench/results.json and bench/chart.svg
  --list            name the cases
BENCH_OURS=original puts the original on both sides and so shows the noise.`

class UsageError extends Error {}

interface Options {
  readonly quick: boolean
  readonly write: boolean
  readonly list: boolean
  readonly help: boolean
  readonly only: string | undefined
}

function readOptions(): Options {
  const flag = { type: 'boolean', default: false } as const
  try {
    const { values } = parseArgs({ options: { quick: flag, write: flag, list: flag, help: flag, only: { type: 'string' } } })
    return { ...values, only: values.only }
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n${HELP}`)
  }
}

function chosenCases(options: Options): BenchCase[] {
  let pattern: RegExp
  try {
    pattern = new RegExp(options.only ?? '', 'i')
  } catch {
    throw new UsageError(`--only: ${options.only} is not a regular expression`)
  }
  const chosen = allCases().filter((one) => pattern.test(one.id) && (!options.quick || one.quick))
  if (chosen.length === 0) throw new UsageError(`no case matches ${options.only}; --list names them`)
  return chosen
}

/** What tells this build of the package from another. Throws where the package is not built. */
function readBuild(): string {
  if (isNoiseRun()) return ''
  const root = new URL('../', import.meta.url)
  const addons = readdirSync(root).filter((name) => name.endsWith('.node'))
  try {
    const files = ['index.js', 'dist/provider.js', 'dist/tools/index.js', 'dist/policy.js', ...addons]
    return files.map((name) => `${name} ${statSync(new URL(name, root)).mtimeMs}`).join()
  } catch {
    throw new UsageError('the package is not built: npm run build')
  }
}

function needsTmpfs(entry: BenchCase): boolean {
  return 'place' in entry.work && entry.work.place === 'tmpfs'
}

function needsBig(entry: BenchCase): boolean {
  return textsOf(entry.work).some((spec) => spec.bytes >= GB)
}

function resultLine(one: CaseResult): string {
  const { original, ours } = one.sides
  const quartiles = one.ratios.length > 1 ? ` (${ratio(one.ratio.q1)} to ${ratio(one.ratio.q3)})` : ''
  const times = `${time(original.time.median)} -> ${time(ours.time.median)}`
  const rest = `memory ${memory(original.memory)} -> ${memory(ours.memory)}, stall ${stall(original.stall)} -> ${stall(ours.stall)}`
  return `${one.id.padEnd(34)} ${ratio(one.ratio.median).padStart(6)}${quartiles.padEnd(18)}  ${times}; ${rest}${one.slower ? '  SLOWER' : ''}`
}

interface Outcome {
  readonly results: CaseResult[]
  readonly failures: Failure[]
}

async function runCases(cases: readonly BenchCase[], places: Places, effort: Effort): Promise<Outcome> {
  const results: CaseResult[] = []
  const failures: Failure[] = []
  for (const entry of cases) {
    try {
      const one = await measure(entry, places, effort)
      results.push(one)
      console.log(resultLine(one))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      failures.push({ id: entry.id, message })
      console.log(`${entry.id}: FAILED: ${message.split('\n')[0]}`)
    }
  }
  return { results, failures }
}

function writeFiles(run: Run): void {
  const files = { 'results.md': markdown(run), 'results.json': json(run), 'chart.svg': chart(run) }
  for (const [name, text] of Object.entries(files)) writeFileSync(new URL(name, import.meta.url), text)
  console.log(
    `written: ${Object.keys(files)
      .map((name) => `bench/${name}`)
      .join(', ')}`,
  )
}

async function bench(options: Options): Promise<number> {
  const chosen = chosenCases(options)
  const build = readBuild()
  if (options.write && isNoiseRun()) throw new UsageError('--write is for a comparison with ours, not for BENCH_OURS=original')
  const began = performance.now()
  const machine = describeMachine()
  const { places, remove } = makePlaces()
  const stop = (): never => {
    endAll()
    remove()
    process.exit(2)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  try {
    const cases = chosen.filter((one) => places.tmpfs !== null || !needsTmpfs(one))
    const skipped = chosen.filter((one) => !cases.includes(one)).map((one) => `${one.id}: no tmpfs on this machine`)
    const systems = {
      'read, listed and "disk" files': fileSystemOf(places.disk),
      '"tmpfs" files': places.tmpfs === null ? 'none found' : fileSystemOf(places.tmpfs),
    }
    const bigSystem = cases.some(needsBig)
      ? { '1 GB file': places.big.startsWith(places.disk) ? systems['read, listed and "disk" files'] : 'tmpfs' }
      : {}
    console.log(`${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, Node ${machine.node}, load ${machine.load.toFixed(2)}`)
    console.log(`original -> ours${isNoiseRun() ? ' (the original on both sides: noise)' : ''}; ratio: original / ours`)
    const outcome = await runCases(cases, places, options.quick ? QUICK : FULL)
    if (readBuild() !== build) throw new UsageError('the package was built anew during the run: its figures mix two builds')
    const limits = [...(options.quick ? ['--quick'] : []), ...(options.only === undefined ? [] : [`--only ${options.only}`])]
    const seconds = (performance.now() - began) / 1000
    const run: Run = {
      machine,
      places: { ...systems, ...bigSystem },
      date: new Date().toISOString().slice(0, 10),
      seconds,
      limits,
      noiseRun: isNoiseRun(),
      ...outcome,
      skipped,
    }
    return conclude(run, options)
  } finally {
    remove()
  }
}

/** Prints what there is to say of a whole run, and gives the exit code. */
function conclude(run: Run, options: Options): number {
  for (const text of run.skipped) console.log(`left out: ${text}`)
  if (options.write && run.results.length > 0) writeFiles(run)
  const slower = run.results.filter((one) => one.slower)
  console.log(
    `${run.results.length} cases in ${Math.round(run.seconds)} s; ${slower.length} slower, ${run.failures.length} failed, ${run.skipped.length} left out. ${ruleText()}`,
  )
  for (const one of slower) console.log(`slower: ${one.id}: ${ratio(one.ratio.median)}, at most ${ratio(one.atMost)}`)
  for (const one of undecided(run.results)) {
    console.log(`slower in the median, within the noise: ${one.id}: ${ratio(one.ratio.median)}, at most ${ratio(one.atMost)}`)
  }
  for (const one of run.failures) console.log(`failed: ${one.id}`)
  return slower.length + run.failures.length > 0 ? 1 : 0
}

async function main(): Promise<number> {
  const options = readOptions()
  if (options.help) console.log(HELP)
  else if (options.list) for (const one of allCases()) console.log(`${one.id}${one.quick ? '  (quick)' : ''}`)
  else return await bench(options)
  return 0
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error)
  process.exitCode = 2
}
