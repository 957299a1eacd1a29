/** Every edge case that concerns provider, tools, policy and confinement has a test: here, or where elsewhere.json says. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import elsewhere from './elsewhere.json' with { type: 'json' }

const range = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, index) => first + index)
const CASES = [range(1, 220), range(285, 291), range(293, 301), range(310, 314), 316].flat()

/** The text of all files below a directory of the package that end so. */
function sources(directory: string, ending: string): string[] {
  const root = join(import.meta.dirname, '../..', directory)
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(root, name), 'utf8'))
}

/** The numbers that begin the name of a test, or of a row that becomes one. */
function named(): Set<number> {
  const found = sources('__test__/edge', '.test.ts').flatMap((source) => [...source.matchAll(/^(?:.*\btest\(|\s*\[)['"`]#(\d+) /gm)])
  return new Set(found.map(([, number]) => Number(number)))
}

test('every case has a test', () => {
  const here = named()
  const there = Object.keys(elsewhere).map(Number)
  expect(CASES.filter((number) => !here.has(number) && !there.includes(number))).toEqual([])
})

test('no test has a number that is not a case', () => {
  expect([...named()].filter((number) => !CASES.includes(number))).toEqual([])
})

test('the tests elsewhere exist', () => {
  const rust = sources('src', '.rs').join('\n')
  const missing = Object.entries(elsewhere as Record<string, string>).filter(([, name]) => !new RegExp(`\\bfn ${name}\\b`).test(rust))
  expect(missing).toEqual([])
})
