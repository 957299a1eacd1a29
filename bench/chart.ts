/**
 * The ratios as horizontal bars on a logarithmic scale, as an SVG that stands alone.
 * @module
 */
import { ratio } from './format.ts'
import type { CaseResult } from './measure.ts'
import { grouped, type Run } from './report.ts'

const WIDTH = 860
const LABELS = 250
const VALUES = 60
const ROW = 20
const BAR = 12
const GROUP = 34
const TOP = 78
const BOTTOM = 30

/** Both colour schemes; a viewer without the media query gets the light one. */
const STYLE = `
  text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; }
  .group { font-weight: 600; }
  .soft { fill: #59636e; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .one { stroke: #59636e; stroke-width: 1.5; }
  .bar { fill: #2f6feb; }
  .slow { fill: #cf222e; }
  .spread { stroke: #1f2328; stroke-width: 1.2; opacity: .65; }
  .back { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .soft { fill: #9198a1; }
    .grid { stroke: #30363d; }
    .one { stroke: #9198a1; }
    .bar { fill: #4493f8; }
    .slow { fill: #f85149; }
    .spread { stroke: #f0f6fc; }
    .back { fill: #0d1117; }
  }`

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/** 1, 2, 5, 10, 20, 50 … and their fractions, from `low` to `high`. */
function ticks(low: number, high: number): number[] {
  const found: number[] = []
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of [1, 2, 5]) {
      const value = step * 10 ** power
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value)
    }
  }
  return found
}

/** Maps a ratio to a horizontal position. */
type Scale = (value: number) => number

function scaleFor(results: readonly CaseResult[]): { scale: Scale; marks: number[] } {
  const values = results.flatMap((one) => [one.ratio.q1, one.ratio.median, one.ratio.q3])
  const low = Math.min(0.8, ...values)
  const high = Math.max(2, ...values) * 1.05
  const span = WIDTH - LABELS - VALUES
  const scale: Scale = (value) => LABELS + (span * Math.log(value / low)) / Math.log(high / low)
  // Labels closer than this would touch: whole powers of ten are then enough.
  const all = ticks(low, high)
  return { scale, marks: all.length > 12 ? all.filter((value) => Math.log10(value) % 1 === 0) : all }
}

function bar(one: CaseResult, y: number, scale: Scale): string[] {
  const middle = y + ROW / 2
  const from = Math.min(scale(1), scale(one.ratio.median))
  const width = Math.max(1, Math.abs(scale(one.ratio.median) - scale(1)))
  const end = Math.max(scale(one.ratio.q3), scale(one.ratio.median), scale(1)) + 6
  return [
    `<text x="${LABELS - 10}" y="${middle + 4}" text-anchor="end">${escapeText(one.id)}</text>`,
    `<rect class="${one.slower ? 'slow' : 'bar'}" x="${from.toFixed(1)}" y="${middle - BAR / 2}" width="${width.toFixed(1)}" height="${BAR}" rx="1.5"/>`,
    `<line class="spread" x1="${scale(one.ratio.q1).toFixed(1)}" x2="${scale(one.ratio.q3).toFixed(1)}" y1="${middle}" y2="${middle}"/>`,
    `<text x="${end.toFixed(1)}" y="${middle + 4}">${ratio(one.ratio.median)}</text>`,
  ]
}

/** The chart of a run that has results. */
export function chart(run: Run): string {
  const { scale, marks } = scaleFor(run.results)
  const body: string[] = []
  let y = TOP
  for (const [group, results] of grouped(run.results)) {
    body.push(`<text class="group" x="12" y="${y + GROUP - 12}">${escapeText(group)}</text>`)
    y += GROUP
    for (const one of results) {
      body.push(...bar(one, y, scale))
      y += ROW
    }
  }
  const height = y + BOTTOM
  const grid = marks.flatMap((value) => {
    const x = scale(value).toFixed(1)
    const label = `<text class="soft" x="${x}" text-anchor="middle"`
    return [
      `<line class="${value === 1 ? 'one' : 'grid'}" x1="${x}" x2="${x}" y1="${TOP}" y2="${y + 6}"/>`,
      `${label} y="${TOP - 6}">×${value}</text>`,
      `${label} y="${y + 22}">×${value}</text>`,
    ]
  })
  const title = run.noiseRun ? 'The original against itself: the noise' : 'dsh-fs-native: times as quick as the original'
  const { machine } = run
  const subtitle = `median of paired ratios, thin line: quartiles, logarithmic · ${machine.cores} cores, Node ${machine.node}, ${machine.kernel}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escapeText(title)}">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="back" width="${WIDTH}" height="${height}" rx="6"/>`,
    `<text class="title" x="12" y="26">${escapeText(title)}</text>`,
    `<text class="soft" x="12" y="46">${escapeText(subtitle)}</text>`,
    ...grid,
    ...body,
    '</svg>',
    '',
  ].join('\n')
}
