/** Edge cases of the diffs that write and edit hand to the card (contract: hunks). */
import { expect, test } from 'vitest'
import { diffsOf, withTools } from './context.ts'

/** The hunks of a write over a file, without their path. */
async function hunks(before: string, after: string): Promise<{ oldText: string | null; newText: string }[]> {
  const edge = await withTools()
  edge.file('f', before)
  const diffs = diffsOf(await edge.call('write', { file_path: 'f', content: after }))
  expect(diffs.every((diff) => diff.path === 'f')).toBe(true)
  return diffs.map(({ oldText, newText }) => ({ oldText, newText }))
}

/** Lines `s1` to `s<count>`, some replaced. */
function numbered(count: number, changed: Record<number, string> = {}): string[] {
  return Array.from({ length: count }, (_, index) => changed[index + 1] ?? `s${index + 1}`)
}

const file = (lines: string[]): string => lines.map((line) => `${line}\n`).join('')
const part = (lines: string[], first: number, last: number): string => lines.slice(first - 1, last).join('\n')

test('#165 from nothing', async () => {
  expect(await hunks('', 'x\ny\n')).toEqual([{ oldText: null, newText: 'x\ny' }])
})

test('#166 to nothing', async () => {
  expect(await hunks('x\ny\n', '')).toEqual([{ oldText: 'x\ny', newText: '' }])
})

test('#167 an inserted line', async () => {
  const old = numbered(11)
  expect(await hunks(file(old), file(old.toSpliced(5, 0, 'N')))).toEqual([
    { oldText: 's3\ns4\ns5\ns6\ns7\ns8', newText: 's3\ns4\ns5\nN\ns6\ns7\ns8' },
  ])
})

test('#168 two changes with seven unchanged lines between them', async () => {
  const [old, now] = [numbered(20), numbered(20, { 4: 'N', 12: 'M' })]
  expect(await hunks(file(old), file(now))).toEqual([
    { oldText: part(old, 1, 7), newText: part(now, 1, 7) },
    { oldText: part(old, 9, 15), newText: part(now, 9, 15) },
  ])
})

test('#169 two changes with six unchanged lines between them', async () => {
  const [old, now] = [numbered(20), numbered(20, { 4: 'N', 11: 'M' })]
  expect(await hunks(file(old), file(now))).toEqual([{ oldText: part(old, 1, 14), newText: part(now, 1, 14) }])
})

test('#170 only the final line break removed', async () => {
  expect(await hunks('z\n', 'z')).toEqual([{ oldText: 'z', newText: 'z' }])
})

test('#171 one more of a run of equal lines', async () => {
  const run = (count: number): string => file(['p', ...Array<string>(count).fill('r'), 'q'])
  expect(await hunks(run(8), run(9))).toEqual([{ oldText: 'r\nr\nr\nq', newText: 'r\nr\nr\nr\nq' }])
})
