/**
 * The results as a Markdown page and as JSON.
 * @module
 */
import { memory, ratio, stall, time } from './format.ts'
import type { Machine } from './machine.ts'
import { type CaseResult, SLOWER_BELOW } from './measure.ts'
import { quantile } from './stats.ts'

export interface Failure {
  readonly id: string
  readonly message: string
}

/** A whole run. */
export interface Run {
  readonly machine: Machine
  /** File systems by what lies on them. */
  readonly places: Readonly<Record<string, string>>
  readonly date: string
  readonly seconds: number
  /** How the run was cut down, or empty. */
  readonly limits: readonly string[]
  /** Both sides were the original. */
  readonly noiseRun: boolean
  readonly results: readonly CaseResult[]
  readonly failures: readonly Failure[]
  /** Cases left out, each with the reason. */
  readonly skipped: readonly string[]
}

/** Results in groups, in the order in which they came. */
export function grouped(results: readonly CaseResult[]): Map<string, CaseResult[]> {
  const groups = new Map<string, CaseResult[]>()
  for (const one of results) {
    const group = groups.get(one.group)
    if (group === undefined) groups.set(one.group, [one])
    else group.push(one)
  }
  return groups
}

const HEAD = [
  '| case | original | ours | ratio | quartiles | memory, original | memory, ours | stall, original | stall, ours |',
  '|---|---:|---:|---:|---:|---:|---:|---:|---:|',
]

/** One line of the table. */
export function row(one: CaseResult): string {
  const { original, ours } = one.sides
  const cells = [
    `${one.id}${one.once ? ' (one call)' : ''}${one.slower ? ' **slower**' : ''}`,
    time(original.time.median),
    time(ours.time.median),
    `**${ratio(one.ratio.median)}**`,
    one.ratios.length > 1 ? `${ratio(one.ratio.q1)} to ${ratio(one.ratio.q3)}` : '–',
    memory(original.memory),
    memory(ours.memory),
    stall(original.stall),
    stall(ours.stall),
  ]
  return `| ${cells.join(' | ')} |`
}

function machineLines(run: Run): string[] {
  const { machine } = run
  const places = Object.entries(run.places).map(([what, system]) => `${what}: ${system}`)
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`)
  return [
    `| machine | ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, load ${machine.load.toFixed(2)} at the start |`,
    '|---|---|',
    `| system | ${machine.kernel}, Node ${machine.node} |`,
    `| file systems | ${places.join('; ')} |`,
    `| packages | ${versions.join(', ')} |`,
    `| run | ${run.date}, ${Math.round(run.seconds)} s${run.limits.length > 0 ? `, cut down: ${run.limits.join(', ')}` : ''} |`,
  ]
}

function idleLine(results: readonly CaseResult[]): string[] {
  const idle = results.flatMap((one) => one.idle)
  if (idle.length === 0) return []
  return [
    `With nothing to do the stall probe saw ${stall(quantile(idle, 0.5))} (median) and ${stall(quantile(idle, 0.95))} (95th percentile): below that it says nothing.`,
  ]
}

/** The rule by which a case counts as slower. */
export function ruleText(): string {
  return `A case counts as slower when the median of its paired ratios is below ${SLOWER_BELOW} with 95 % confidence (sign test) in two measurements, each with processes of its own.`
}

/** Cases whose median is below the mark, but not beyond the noise of this run. */
export function undecided(results: readonly CaseResult[]): CaseResult[] {
  return results.filter((one) => one.ratio.median < SLOWER_BELOW && !one.slower)
}

const METHOD = [
  'Times are medians of one call. The ratio is the median of the ratios original / ours of each round: above 1 ours is quicker. Each side runs in processes of its own with a real Cordis context (tool runtime, system prompt, provider, policy, tools); both are warmed and then asked in turn, the first one changing each round. Before that one result of each is compared.',
  'Peak memory is the growth of the resident set during a first call in a fresh process in which each function has been called once on a tiny file; for the start it is that of the whole process. The stall is the median, over warm calls that are not timed, of the longest time the event loop stood still in one. A case marked "one call" is too slow on one side for rounds: its figures are those of a first call in a fresh process.',
  'Files that are only read lie in the page cache. The guard of each change is the version of the change before. "10 MB" is 1 KB less, so that the default limit of a write\'s diff does not leave the diff out.',
]

/** The page `results.md`. */
export function markdown(run: Run): string {
  const lines = ['# Benchmark', '']
  if (run.noiseRun) lines.push('**Both sides are the original: this shows the noise, not the package.**', '')
  lines.push('Made by `npm run bench -- --write`.', '', ...machineLines(run), '')
  for (const [group, results] of grouped(run.results)) lines.push(`## ${group}`, '', ...HEAD, ...results.map(row), '')
  if (run.skipped.length > 0) lines.push('## Left out', '', ...run.skipped.map((text) => `- ${text}`), '')
  if (run.failures.length > 0) lines.push('## Failed', '', ...run.failures.map((one) => `- ${one.id}: ${one.message.split('\n')[0]}`), '')
  const unsure = undecided(run.results).map((one) => `- ${one.id}: ${ratio(one.ratio.median)}, at most ${ratio(one.atMost)}`)
  if (unsure.length > 0) lines.push('## Slower in the median, within the noise', '', ...unsure, '')
  lines.push('## How it is measured', '', ...METHOD.flatMap((text) => [text, '']), ...idleLine(run.results), ruleText(), '')
  return lines.join('\n')
}

/** The file `results.json`: everything measured, times in milliseconds, memory in bytes. */
export function json(run: Run): string {
  const short = (_: string, value: unknown): unknown => (typeof value === 'number' ? Number(value.toPrecision(5)) : value)
  return `${JSON.stringify(run, short, 1)}\n`
}
