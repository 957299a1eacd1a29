/** The benchmark's own arithmetic and data; what it measures is not judged here. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { allCases, KB, MB, type TextSpec } from './cases.ts'
import { chart } from './chart.ts'
import { ensureData, linesOf, type Places, rewriteText, textPath } from './data.ts'
import { ratio, stall, time } from './format.ts'
import type { CaseResult, SideFigures } from './measure.ts'
import { grouped, type Run, row } from './report.ts'
import { medianUpperBound, quantile } from './stats.ts'

describe('statistics', () => {
  test('quantiles lie between neighbours and do not depend on the order', () => {
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5)
    expect(quantile([4, 1, 3, 2], 0.75)).toBe(3.25)
    expect(quantile([7], 0.25)).toBe(7)
    expect(() => quantile([], 0.5)).toThrow(RangeError)
  })
})

test('the bound of the median follows the sign test', () => {
  const count = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1)
  // Tables of the sign test: 6 values the 6th, 20 the 15th, 60 the 39th.
  expect([6, 20, 60].map((n) => medianUpperBound(count(n)))).toEqual([6, 15, 39])
  expect(medianUpperBound([0.9])).toBe(0.9)
  expect(medianUpperBound([3, 1, 2])).toBe(3)
})

describe('data', () => {
  let directory: string
  let places: Places
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'bench-data-'))
    places = { cache: directory, big: directory, disk: directory, tmpfs: null }
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  function made(text: TextSpec): Buffer {
    ensureData(places, { kind: 'readText', text })
    return readFileSync(textPath(places, text))
  }

  test('50 KB are 1,056 lines', () => {
    const text = made({ bytes: 50 * KB }).toString('latin1')
    expect(text).toHaveLength(51_200)
    expect(text.split('\n')).toHaveLength(1_057)
    expect(linesOf({ bytes: 50 * KB })).toBe(1_056)
  })

  test.each([KB, 3 * KB + 1, 3 * KB + 2, 2 * MB + 5])('%i bytes of Chinese are UTF-8 and end with a newline', (bytes) => {
    const data = made({ bytes, wide: true })
    expect(data).toHaveLength(bytes)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(data)
    expect(text.endsWith('\n')).toBe(true)
    expect(text.split('\n').length - 1).toBe(linesOf({ bytes, wide: true }))
  })

  test('two rewrites have no line in common', () => {
    const before = new Set(rewriteText(500, 'before').split('\n'))
    const after = rewriteText(500, 'after').split('\n')
    expect(after.filter((line) => line !== '' && before.has(line))).toEqual([])
  })
})

test('every case has a name of its own', () => {
  const names = allCases().map((one) => one.id)
  expect(new Set(names).size).toBe(names.length)
})

test('numbers are short', () => {
  expect([0.0451, 1.234, 12.34, 1234, 19_200].map(time)).toEqual(['45 µs', '1.23 ms', '12.3 ms', '1,234 ms', '19.2 s'])
  expect([0.954, 1.005, 2.04, 11.6].map(ratio)).toEqual(['×0.95', '×1.00', '×2.0', '×12'])
  expect([null, 0.4, 5].map(stall)).toEqual(['–', '< 1 ms', '5.00 ms'])
})

function resultOf(id: string, value: number): CaseResult {
  const side = (ms: number): SideFigures => ({
    times: [ms, ms],
    time: { q1: ms, median: ms, q3: ms },
    memory: MB,
    stall: 2,
    firstMs: ms,
    firstStall: 2,
  })
  return {
    id,
    group: 'group',
    once: false,
    sides: { original: side(value), ours: side(1) },
    ratios: [value, value],
    ratio: { q1: value, median: value, q3: value },
    idle: [0.1],
    atMost: value,
    slower: value < 0.95,
  }
}

describe('report', () => {
  test('a row marks a slower case', () => {
    expect(row(resultOf('quick', 3))).toBe('| quick | 3.00 ms | 1.00 ms | **×3.0** | ×3.0 to ×3.0 | 1.0 MB | 1.0 MB | 2.00 ms | 2.00 ms |')
    expect(row(resultOf('slow', 0.5))).toContain('slow **slower**')
  })

  test('the chart draws a bar a case, to the left of 1 for a slower one, and escapes names', () => {
    const results = [resultOf('a < b', 4), resultOf('slow', 0.5)]
    const machine = { cpu: 'cpu', cores: 2, memoryGb: 1, kernel: 'k', node: 'n', load: 0, versions: {} }
    const run: Run = { machine, places: {}, date: '', seconds: 0, limits: [], noiseRun: false, results, failures: [], skipped: [] }
    const svg = chart(run)
    expect(grouped(results).size).toBe(1)
    expect(svg).toContain('a &lt; b')
    const [quick, slow] = [...svg.matchAll(/<rect class="(bar|slow)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)]
    expect([quick?.[1], slow?.[1]]).toEqual(['bar', 'slow'])
    // The slower bar ends where the other begins: at 1. On a logarithmic scale 4 is twice as far from it as 1/2.
    expect(Number(slow?.[2]) + Number(slow?.[3])).toBeCloseTo(Number(quick?.[2]), 0)
    expect(Number(quick?.[3]) / Number(slow?.[3])).toBeCloseTo(2, 1)
  })
})
