/**
 * Edge cases in which something happens between two steps of a call (contract: publication, reads). The call is made by a
 * child process, and the gate stops it at a system call: there the test acts as another process would, or has the system
 * call fail.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Job, Outcome, Report, Step } from './child.ts'
import { buildGate, type Reply, runChild, type Stop } from './children.ts'
import { fsError, latch, replaced, TARGET, toolError, Workspace, withProvider } from './context.ts'

let gate: Awaited<ReturnType<typeof buildGate>>
beforeAll(async () => {
  gate = await buildGate()
})
afterAll(() => gate?.remove())

const { EPERM, EBUSY } = constants.errno

interface Play {
  steps: Step[]
  calls: Stop['call'][]
  onStop: (stop: Stop) => Reply | Promise<Reply>
  job?: Partial<Job>
}

/** Plays steps in a child whose system calls below the workspace stop as asked. */
function playGated(space: Workspace, { steps, calls, onStop, job }: Play): Promise<Report> {
  const stops = { program: gate.program, prefix: `${space.dir}/`, calls, onStop }
  return runChild({ cwd: space.dir, steps, ...job }, { gate: stops })
}

/** Lets every call pass, after doing something at the first. */
function atFirst(act: () => void): Play['onStop'] {
  let pending: (() => void) | undefined = act
  return () => {
    pending?.()
    pending = undefined
    return 'go'
  }
}

const writeF = (expected?: 'createIfAbsent' | 'current'): Step => ({
  fs: 'writeText',
  path: 'f',
  content: 'ours',
  ...(expected ? { expected } : {}),
})

const ok = (operation: 'create' | 'update', before: string | null): Outcome => ({
  value: { operation, before, after: 'ours', version: expect.any(String) },
})

const STAGING = /^\.f\.(\d+)\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmpdir$/

/** The text for a refused hard link; that of the original goes on to name its paths. */
function notLinked(space: Workspace): unknown {
  const text = `cannot write "${space.at('f')}": EPERM: operation not permitted`
  return replaced<unknown>('D18', { original: expect.stringMatching(new RegExp(`^${text}, link `)), ours: text })
}

test('#64 no hard link for a guarded create (D18) (until D3)', async () => {
  const space = new Workspace()
  const steps = [writeF('createIfAbsent')]
  const { outcomes } = await playGated(space, { steps, calls: ['link'], onStop: () => ({ fail: EPERM }) })
  expect(outcomes).toEqual([{ failed: { kind: 'FsError', code: 'FS_IO_ERROR', message: notLinked(space), cause: 'EPERM' } }])
  expect(space.tree()).toEqual([])
})

test('#65 the file appears before a guarded create is published', async () => {
  const space = new Workspace()
  const steps = [writeF('createIfAbsent')]
  const { outcomes } = await playGated(space, { steps, calls: ['link'], onStop: atFirst(() => space.file('f', 'theirs')) })
  const message = `cannot overwrite existing "${space.at('f')}" without reading it first`
  expect(outcomes).toEqual([{ failed: fsError('FS_NOT_OBSERVED', message, 'EEXIST') }])
  expect([space.tree(), space.text('f')]).toEqual([['f'], 'theirs'])
})

test('#66 the file changes before a guarded replacement is published (until D2)', async () => {
  const space = new Workspace()
  const path = space.file('f', 'old')
  const steps = [writeF('current')]
  const { outcomes } = await playGated(space, { steps, calls: ['rename'], onStop: atFirst(() => writeFileSync(path, 'theirs')) })
  expect(outcomes).toEqual([ok('update', 'old')])
  expect([space.tree(), space.text('f')]).toEqual([['f'], 'ours'])
})

test('#67 the directories of a failed create (until D8)', async () => {
  const space = new Workspace()
  const steps: Step[] = [{ fs: 'writeText', path: 'a/b/f', content: 'ours', expected: 'createIfAbsent' }]
  const { outcomes } = await playGated(space, { steps, calls: ['link'], onStop: () => ({ fail: EPERM }) })
  expect(outcomes[0]?.failed?.code).toBe('FS_IO_ERROR')
  expect(space.tree()).toEqual(['a/', 'a/b/'])
})

test('#68 the staging directory cannot be removed after publication (until D8)', async () => {
  const space = new Workspace()
  space.file('f', 'old')
  const { outcomes, pid } = await playGated(space, {
    steps: [writeF()],
    calls: ['rmdir', 'unlink'],
    onStop: () => ({ fail: EBUSY }),
  })
  expect(outcomes).toEqual([ok('update', 'old')])
  expect(space.text('f')).toBe('ours')
  const [left] = readdirSync(space.dir).filter((name) => name !== 'f')
  expect(left).toMatch(STAGING)
  expect(STAGING.exec(left!)?.[1]).toBe(`${pid}`)
})

test('#69 neither published nor cleaned up (D18) (until D8)', async () => {
  const space = new Workspace()
  const { outcomes } = await playGated(space, {
    steps: [writeF('createIfAbsent')],
    calls: ['link', 'rmdir', 'unlink'],
    onStop: ({ call }) => ({ fail: call === 'link' ? EPERM : EBUSY }),
  })
  const published = `cannot write "${space.at('f')}": EPERM: operation not permitted`
  const message = replaced<unknown>('D18', {
    original: expect.stringMatching(
      new RegExp(`^write failed \\(${published}, link .*\\) and temp cleanup failed \\(EBUSY: resource busy or locked, .*\\)$`),
    ),
    ours: `write failed (${published}) and temp cleanup failed (EBUSY: resource busy or locked)`,
  })
  expect(outcomes[0]?.failed).toMatchObject({ kind: 'FsError', code: 'FS_NOT_FOUND', message })
})

test('#70 the staged file (until D8)', async () => {
  const space = new Workspace()
  space.file('f', 'old', 0o640)
  const staged: string[] = []
  const { pid } = await playGated(space, {
    steps: [writeF()],
    calls: ['open'],
    // The open of the staged file: its directory is ready. The file itself is looked at when it is published.
    onStop: ({ paths: [path] }) => {
      if (path.endsWith('.tmp')) staged.push(path.slice(space.dir.length + 1))
      return 'go'
    },
  })
  expect(staged).toHaveLength(1)
  const [directory, file] = staged[0]!.split('/')
  expect(STAGING.exec(directory!)?.[1]).toBe(`${pid}`)
  expect(file).toBe('f.tmp')
  const modes: string[] = []
  await playGated(space, {
    steps: [{ fs: 'writeText', path: 'g', content: 'new' }],
    calls: ['rename'],
    onStop: ({ paths: [path] }) => {
      const name = path.slice(space.dir.length + 1)
      modes.push(space.mode(name.split('/')[0]!), space.mode(name))
      return 'go'
    },
  })
  expect(modes).toEqual(['0700', '0600'])
})

test('#295 an extended attribute of an edited file (until D4)', async () => {
  const edge = await withProvider()
  const path = edge.file('f', 'old')
  const attribute = (): string => execFileSync(gate.program, ['getxattr', path, 'user.k'], { encoding: 'utf8' })
  const { status, stderr } = spawnSync(gate.program, ['setxattr', path, 'user.k', 'v'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the temporary directory has no user attributes: ${stderr}`)
  expect(attribute()).toBe('v')
  await edge.edit('f', 'old', 'new')
  expect([edge.text('f'), attribute()]).toEqual(['new', ''])
})

test('#310 the file is removed right after publication', async () => {
  const space = new Workspace()
  const path = space.file('f', 'old')
  let published = false
  const { outcomes } = await playGated(space, {
    steps: [writeF()],
    calls: ['rename', 'rmdir', 'unlink'],
    onStop: ({ call }) => {
      if (published) rmSync(path, { force: true })
      published ||= call === 'rename'
      return 'go'
    },
  })
  expect(outcomes).toEqual([{ value: { operation: 'update', before: 'old', after: 'ours', version: `missing:${path}` } }])
  expect(space.tree()).toEqual([])
})

test('#312 two processes replace one version (until D2)', async () => {
  const space = new Workspace()
  space.file('f', 'old')
  // Both have checked when both are about to rename.
  const both = latch()
  let waiting = 0
  const onStop = async (): Promise<Reply> => {
    if (++waiting === 2) both.open()
    await both.opened
    return 'go'
  }
  const reports = await Promise.all([1, 2].map(() => playGated(space, { steps: [writeF('current')], calls: ['rename'], onStop })))
  expect(reports.map((report) => report.outcomes)).toEqual([[ok('update', 'old')], [ok('update', 'old')]])
  expect([space.tree(), space.text('f')]).toEqual([['f'], 'ours'])
})

for (const method of ['readText', 'streamText', 'readBytes'] as const) {
  test(`#313 a pipe in the place of the file: ${method} (D19)`, async () => {
    const space = new Workspace()
    const path = space.file('f', 'text')
    let settled = false
    const swapped = latch()
    const report = playGated(space, {
      steps: [{ fs: method, path }],
      calls: ['open'],
      onStop: atFirst(() => {
        rmSync(path)
        execFileSync('mkfifo', [path])
        swapped.open()
      }),
    }).finally(() => {
      settled = true
    })
    await swapped.opened
    if (TARGET === 'original') {
      await sleep(300)
      expect(settled).toBe(false)
      await writeFile(path, 'from the writer')
    }
    const refused = fsError('FS_NOT_REGULAR_FILE', `cannot read "${path}": not a regular file`)
    expect((await report).outcomes).toEqual([
      replaced<Outcome>('D19', { original: { value: 'from the writer' }, ours: { failed: refused } }),
    ])
  })
}

test('#314 the file changes between the stat and the read of the read tool (D19)', async () => {
  const space = new Workspace()
  const path = space.file('f', 'old text\n')
  const version = ({ dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })) => `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
  const old = version()
  let rewritten = ''
  const { outcomes, observed } = await playGated(space, {
    steps: [
      { tool: 'read', args: { file_path: 'f' } },
      { tool: 'edit', args: { file_path: 'f', old_string: 'newer', new_string: 'newest' } },
    ],
    calls: ['open'],
    onStop: atFirst(() => {
      writeFileSync(path, 'newer text\n')
      rewritten = version()
    }),
    job: { tools: {} },
  })
  const [read, edit] = outcomes.map((outcome) => outcome.value)
  expect(read).toMatchObject({ isError: false, value: { lines: [{ number: 1, text: 'newer text' }] } })
  expect(observed[0]?.observation).toEqual({ kind: 'present', version: replaced('D19', { original: old, ours: rewritten }) })
  const stale = toolError('FS_STALE_VERSION', `cannot edit "${path}": file changed since it was read — re-read the file, then retry`)
  expect(edit).toMatchObject(
    replaced<object>('D19', { original: { isError: true, error: stale }, ours: { isError: false, value: { after: 'newest text\n' } } }),
  )
  expect(space.text('f')).toBe(replaced('D19', { original: 'newer text\n', ours: 'newest text\n' }))
})
