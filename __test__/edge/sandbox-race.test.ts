/**
 * Edge cases in which somebody replaces a directory while a call is under way (contract: sandboxing provider). A child
 * process makes the call; the gate stops it at one of its system calls, and there the test puts a link to outside in the
 * place of the directory. Every system call has its turn, so this holds wherever an implementation looks at the path.
 */
import { renameSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Step } from './child.ts'
import { buildGate, runChild } from './children.ts'
import { replaced, type Workspace } from './context.ts'
import { confinedSpace } from './sandboxed.ts'

let gate: Awaited<ReturnType<typeof buildGate>>
beforeAll(async () => {
  gate = await buildGate()
})
afterAll(() => gate?.remove())

/** The workspace has `d/f`, and outside is another `f`. */
function space(): Workspace {
  const files = confinedSpace()
  files.file('w/d/f', 'inside')
  files.file('o/f', 'outside')
  return files
}

function swap(files: Workspace): void {
  renameSync(files.at('w/d'), files.at('w/moved'))
  files.link('w/d', files.at('o'))
}

/** What a call did that it must not do: to the files outside, and staging that it left anywhere. */
function harm(files: Workspace): string[] {
  const names = files.tree()
  const outside = names.filter((name) => name.startsWith('o/') && name !== 'o/' && name !== 'o/f')
  const changed = files.text('o/f') === 'outside' ? [] : [`o/f: ${files.text('o/f')}`]
  return [...outside, ...changed, ...names.filter((name) => /(^|\/)\./.test(name))]
}

/** Plays a step and swaps the directory at one stop. @returns whether there was such a stop, and the harm. */
async function swappedAt(stop: number, step: Step): Promise<{ stopped: boolean; done: string[] }> {
  const files = space()
  let stops = 0
  const onStop = () => {
    if (stops++ === stop) swap(files)
    return 'go' as const
  }
  const sandbox = { mode: 'workspace-write', workspaceRoot: files.at('w') } as const
  const calls = ['open', 'mkdir', 'rename', 'link', 'unlink', 'rmdir'] as const
  await runChild(
    { cwd: files.at('w'), sandbox, steps: [step] },
    { gate: { program: gate.program, prefix: `${files.dir}/`, calls: [...calls], onStop } },
  )
  return { stopped: stops > stop, done: harm(files) }
}

/** The harm of a swap at each of the stops that a call has. */
async function swappedEverywhere(step: Step): Promise<string[][]> {
  const found: string[][] = []
  for (let stop = 0; ; stop++) {
    const { stopped, done } = await swappedAt(stop, step)
    if (!stopped) return found
    found.push(done)
  }
}

for (const [name, step] of [
  ['#316 a directory replaced by a link during a write (D22)', { fs: 'writeText', path: 'd/f', content: 'written' }],
  ['#316 a directory replaced by a link during the write of a new file (D22)', { fs: 'writeText', path: 'd/n/g', content: 'written' }],
  ['#316 a directory replaced by a link during an edit (D22)', { fs: 'editText', path: 'd/f', oldString: 'side', newString: 'land' }],
] as const) {
  test(name, async () => {
    const found = await swappedEverywhere(step)
    expect(found.length).toBeGreaterThan(0)
    // The original accepts the race: at one of its steps at least the link is followed.
    expect(found.flat()).toEqual(replaced('D22', { original: expect.arrayContaining([expect.stringMatching(/^o\//)]), ours: [] }))
  })
}
