/** The edge case of a diff with thousands of changes (contract: hunks). */
import { setInterval } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { diffsOf, replaced, textOf, withTools } from './context.ts'

/** The longest time in milliseconds that the event loop did not run during a call. */
async function longestStall(call: () => Promise<unknown>): Promise<number> {
  const done = new AbortController()
  let longest = 0
  let last = performance.now()
  const look = (): void => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  const watching = (async () => {
    for await (const _ of setInterval(5, undefined, { signal: done.signal })) look()
  })().catch(() => {}) // ends by being aborted
  await call()
  look()
  done.abort()
  await watching
  return longest
}

test('#300 replace_all on each of 5000 lines (D21)', { timeout: 120_000 }, async () => {
  const edge = await withTools()
  const content = (word: string): string => Array.from({ length: 5000 }, (_, line) => `${word} number ${line}\n`).join('')
  const path = edge.file('f', content('old'))
  let result!: Awaited<ReturnType<typeof edge.call>>
  const stall = await longestStall(async () => {
    result = await edge.call('edit', { file_path: 'f', old_string: 'old', new_string: 'new', replace_all: true })
  })
  expect(textOf(result)).toBe(`The file ${path} has been updated. All occurrences were successfully replaced.`)
  expect(edge.text('f')).toBe(content('new'))
  expect(diffsOf(result)).toEqual([{ path: 'f', oldText: content('old').trimEnd(), newText: content('new').trimEnd() }])
  const [least, most] = replaced('D21', { original: [1000, Infinity], ours: [0, 1000] })
  expect(stall).toBeGreaterThanOrEqual(least!)
  expect(stall).toBeLessThanOrEqual(most!)
})
