/**
 * Calls of our tools over a provider that is not ours, beside the original tools over the same one: which methods are
 * called, with what, in which order, and what comes out. Contract: order of effects, sandbox escalation, error mapping.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FsError, type FsErrorCode } from '@deepseek-ai/dsh-fs'
import LocalFileSystem from '@deepseek-ai/dsh-fs-local'
import { describe, expect, test } from 'vitest'
import * as ours from '../plugin/tools/index.ts'
import { type Call, same, steps, type World, world } from './recorded-world.ts'
import { callTool, rawFs, runtime, temporaryDirectory } from './side-by-side.ts'

const file = (fileName: string, content: string) => (made: World) => writeFileSync(join(made.dir, fileName), content)
const edit = { file_path: 'f', old_string: 'b', new_string: 'B' }
const write = { file_path: 'f', content: 'new\n' }

describe('read', () => {
  test('loads a small file', async () => {
    const log = await same(
      { prepare: file('f', 'a\r\nb\n\nc') },
      ['read', { file_path: 'f' }],
      ['read', { file_path: 'f', offset: 2, limit: 2 }],
    )
    expect(steps(log).slice(0, 5)).toEqual(['resolve', 'stat', 'readText', 'fs/observed', 'result'])
  })

  test.each(['a\nb\n', '', '\n', 'one line'])('streams %j', async (content) => {
    const log = await same({ config: { readStreamMinSize: 1 }, prepare: file('f', content) }, ['read', { file_path: 'f' }])
    expect(steps(log)).toEqual(['resolve', 'stat', content === '' ? 'readText' : 'streamText', 'fs/observed', 'result'])
  })

  test('streams a file of unknown size, from whatever can be iterated', async () => {
    let opened = 0
    let closed = 0
    const prepare = ({ fs }: World) => {
      Object.assign(fs, {
        stat: async () => ({ type: 'file', version: 'v' }),
        // Not asynchronous and not a generator: all that iteration asks for.
        streamText: async () => ({
          [Symbol.iterator]() {
            opened++
            const chunks = ['é\r', '\nb', '', '\nc']
            return { next: () => ({ done: chunks.length === 0, value: chunks.shift() }), return: () => ({ done: true, value: closed++ }) }
          },
        }),
      })
    }
    const log = await same({ prepare }, ['read', { file_path: 'f' }])
    expect(steps(log)).toEqual(['resolve', 'fs/observed', 'result'])
    expect([opened, closed]).toEqual([2, 0])
  })

  test('reports what cannot be read', async () => {
    const log = await same(
      { prepare: (made) => mkdirSync(join(made.dir, 'g')) },
      ['read', { file_path: 'missing' }],
      ['read', { file_path: 'g' }],
      ['read', { file_path: ' ' }],
      ['read', { file_path: 'f', offset: 0, limit: 9999 }],
      ['read', { file_path: 'f', limit: 9999 }],
      ['read', { offset: 1 }],
    )
    expect(steps(log)).toEqual(['resolve', 'stat', 'fs/observed', 'result', 'resolve', 'stat', ...Array(5).fill('result')])
  })

  test('reports a window behind the end, and observes nothing', async () => {
    const log = await same({ prepare: file('f', 'a\nb\n') }, ['read', { file_path: 'f', offset: 3 }])
    expect(steps(log)).toEqual(['resolve', 'stat', 'readText', 'result'])
  })

  test.each([
    ['none', () => undefined],
    ['one with dots', (dir: string) => `${dir}/g/..`],
    ['a missing one with dots', (dir: string) => `${dir}/missing/../g`],
  ] as const)('resolves against the session directory: %s', async (_name, cwd) => {
    await same(
      { cwd, prepare: (made) => [mkdirSync(join(made.dir, 'g')), file('f', 'a')(made), file('g/f', 'inner')(made)][1] },
      ['read', { file_path: 'f' }],
      ['read', { file_path: '../f' }],
      ['read', { file_path: 'g/../f' }],
      ['read', { file_path: 'f' }, 'nobody'],
      ['write', { file_path: 'x/../y', content: '' }],
    )
  })
})

describe('write and edit', () => {
  test('without a policy', async () => {
    const log = await same({}, ['write', write], ['write', { ...write, content: 'a\nb\n' }], ['edit', edit], ['write', write, 'nobody'])
    const mutation = (tool: string) => ['resolve', `fs/${tool}-intent`, `${tool}Text`, 'fs/observed', 'result']
    expect(steps(log)).toEqual(['write', 'write', 'edit', 'write'].flatMap(mutation))
  })

  test('with a policy, refusals included', async () => {
    const log = await same(
      { policy: true, prepare: file('f', 'a\nb\nb\n') },
      ['edit', edit],
      ['write', write],
      ['read', { file_path: 'f' }],
      ['edit', edit],
      ['edit', { ...edit, old_string: 'missing' }],
      ['edit', { ...edit, replace_all: true }],
      ['read', { file_path: 'new' }],
      ['edit', { ...edit, file_path: 'new' }],
      ['write', { file_path: 'new', content: '' }],
      ['edit', edit, 'nobody'],
    )
    expect(JSON.stringify(log)).toContain('— read the file, then retry')
  })

  test('arguments are judged before anything is touched', async () => {
    const log = await same(
      {},
      ['write', { file_path: '\t', content: '' }],
      ['write', { file_path: 'f' }],
      ['edit', { file_path: ' ', old_string: '', new_string: '' }],
      ['edit', { file_path: 'f', old_string: '', new_string: '' }],
      ['edit', { file_path: 'f', old_string: 'a', new_string: 'a' }],
      ['edit', { ...edit, replace_all: 1 }],
    )
    expect(new Set(steps(log))).toEqual(new Set(['result']))
  })

  test("a value that a plugin put in the place of the tool's gets its own diff", async () => {
    const replacement = { path: 'elsewhere', before: 'a longer\ntext\n', after: 'a longer\nword\n' }
    const prepare = async (made: World) => {
      file('f', 'a\nb\n')(made)
      made.ctx.on('tools/post-execute', async (_exec, result, next) => {
        if (result.isError || made.log.length < 6) return next()
        return { kind: 'accept', value: replacement }
      })
    }
    const log = await same({ prepare }, ['edit', edit], ['edit', { ...edit, old_string: 'B', new_string: 'c' }])
    expect(
      log.filter((entry) => (entry as unknown[])[0] === 'result').map((entry) => (entry as [string, { meta: object }])[1].meta),
    ).toEqual([
      { diffs: [{ path: 'f', oldText: 'a\nb', newText: 'a\nB' }] },
      { diffs: [{ path: 'f', oldText: 'a longer\ntext', newText: 'a longer\nword' }] },
    ])
  })

  test('a diff is that of the value, also when half of it was replaced', async () => {
    const made = await world(ours, { prepare: file('f', 'a\nb\n') })
    const { execute, output } = made.ctx.tools.get('edit')!
    const diffsFor = async (replaced: object) => {
      writeFileSync(join(made.dir, 'f'), 'a\nb\n')
      const args = Object.freeze({ ...edit })
      const value = await execute(args, { signal: new AbortController().signal, callId: 'c' } as never)
      return output.presentationMeta!(args, { ...(value as object), ...replaced })
    }
    expect(await diffsFor({})).toEqual({ diffs: [{ path: 'f', oldText: 'a\nb', newText: 'a\nB' }] })
    expect(await diffsFor({ before: 'another\n' })).toEqual({ diffs: [{ path: 'f', oldText: 'another', newText: 'a\nB' }] })
    expect(await diffsFor({ after: 'another\n' })).toEqual({ diffs: [{ path: 'f', oldText: 'a\nb', newText: 'another' }] })
  })
})

describe('escalation', () => {
  const permissions = [undefined, 'workspace-write', 'danger-full-access', '', null, 7]
  const reasons = [undefined, 'needed', ' ', '', null, 7]
  const calls = permissions.flatMap((sandbox_permissions) =>
    reasons.map((justification): Call => {
      const given = Object.entries({ sandbox_permissions, justification }).filter(([, value]) => value !== undefined)
      return ['write', { file_path: 'f', content: '', ...Object.fromEntries(given) }]
    }),
  )

  test.each([undefined, 'read-only', 'workspace-write', 'danger-full-access'] as const)('from %s', async (mode) => {
    const log = await same({ ...(mode ? { mode } : {}), approval: 'allowed-once' }, ...calls)
    expect(steps(log)).toContain('writeText')
    expect(steps(log).includes('approval')).toBe(mode === 'read-only' || mode === 'workspace-write')
  })

  const escalated = { sandbox_permissions: 'danger-full-access', justification: 'It must be. ' }
  test.each(['allowed-once', 'rejected', 'cancelled', 'unavailable', undefined])('answered with %s', async (approval) => {
    const log = await same(
      { mode: 'read-only', ...(approval === undefined ? {} : { approval }), prepare: file('f', 'a\nb\n') },
      ['edit', { ...edit, ...escalated }],
      ['write', { ...write, ...escalated }],
      ['edit', { ...edit, ...escalated }, 'nobody'],
      ['edit', { ...edit, ...escalated, file_path: ' ' }],
      // The grant was for one call.
      ['write', write],
    )
    expect(steps(log).includes('editText')).toBe(approval === 'allowed-once')
    expect(JSON.stringify(log.at(-1))).toContain('[sandbox: file access denied under read-only mode]')
  })

  test('the root of the policy takes the place of the session directory', async () => {
    const log = await same({ mode: 'workspace-write', cwd: (dir) => `${dir}/g/..` }, ['write', write], ['write', write, 'nobody'])
    expect(log[0]).toEqual(['resolve', 'f', { cwd: '<D>', signal: '<signal>' }])
  })
})

/** Runs the body of a tool, without the runtime that turns errors into texts. */
async function execute(made: World, tool: string, args: object): Promise<unknown> {
  const exec = { signal: new AbortController().signal, callId: 'c', token: Symbol('exec') }
  return made.ctx.tools.get(tool)!.execute(args, exec as never)
}

describe('what is thrown comes out', () => {
  const thrown = Object.freeze({ odd: 'not even an error' })
  const failures: [tool: string, args: object, at: string][] = [
    ['read', { file_path: 'f' }, 'resolve'],
    ['read', { file_path: 'f' }, 'stat'],
    ['read', { file_path: 'f' }, 'readText'],
    ['read', { file_path: 'f' }, 'fs/observed'],
    ['read', { file_path: 'big' }, 'streamText'],
    ...['resolve', 'fs/write-intent', 'writeText', 'fs/observed'].map((at): [string, object, string] => ['write', write, at]),
    ...['resolve', 'fs/edit-intent', 'editText', 'fs/observed'].map((at): [string, object, string] => ['edit', edit, at]),
  ]
  const ways: Record<string, () => unknown> = {
    thrown: () => {
      throw thrown
    },
    rejected: () => Promise.reject(thrown),
  }

  // Nobody waits for a listener of fs/observed, so there is no rejection that could come out.
  const cases = failures
    .flatMap((failure) => Object.keys(ways).map((way) => [...failure, way] as const))
    .filter(([, , at, way]) => !(at === 'fs/observed' && way === 'rejected'))

  test.each(cases)('%s %o at %s, %s', async (tool, args, at, way) => {
    const made = await world(ours, { config: { readStreamMinSize: 6 } })
    for (const [fileName, content] of [
      ['f', 'a\nb\n'],
      ['big', 'a\nb\nc\nd\n'],
    ] as const)
      file(fileName, content)(made)
    if (at.includes('/')) made.ctx.on(at as 'fs/observed', ways[way] as never, { prepend: true })
    else Object.assign(made.fs, { [at]: ways[way] })
    await expect(execute(made, tool, args)).rejects.toBe(thrown)
  })

  test('from within a stream', async () => {
    const made = await world(ours, { config: { readStreamMinSize: 1 } })
    file('f', 'a\n')(made)
    async function* chunks(): AsyncGenerator<string> {
      yield 'a\n'
      throw thrown
    }
    Object.assign(made.fs, { streamText: async () => chunks() })
    await expect(execute(made, 'read', { file_path: 'f' })).rejects.toBe(thrown)
  })

  test.each<[FsErrorCode, string | undefined]>([
    ['FS_STALE_VERSION', 'said — re-read the file, then retry'],
    ['FS_NOT_OBSERVED', 'said — read the file, then retry'],
    ['FS_SANDBOX_DENIED', undefined],
    ['FS_EDIT_NOT_FOUND', undefined],
  ])('with a remedy for %s where it is the mutation that fails', async (code, message) => {
    const error = new FsError('said', code)
    const fail = () => Promise.reject(error)
    const made = await world(ours)
    Object.assign(made.fs, { writeText: fail, editText: fail })
    for (const [tool, args] of [
      ['write', write],
      ['edit', edit],
    ] as const) {
      const failed = execute(made, tool, args)
      if (message === undefined) await expect(failed).rejects.toBe(error)
      else await expect(failed).rejects.toMatchObject({ message, code, cause: error, constructor: FsError })
    }
    // Before the mutation nothing is explained, except that an edit asks its listeners within it.
    const listening = await world(ours)
    for (const event of ['fs/write-intent', 'fs/edit-intent'] as const) listening.ctx.on(event, fail as never, { prepend: true })
    await expect(execute(listening, 'write', write)).rejects.toBe(error)
    await expect(execute(listening, 'edit', edit)).rejects.toMatchObject({ message: message ?? 'said', code })
  })
})

test('objects of providers and deciders go on as they are', async () => {
  const made = await world(ours)
  const target = Object.freeze({ targetKey: 'key', displayPath: '/shown', secret: Symbol('of the provider') })
  const intent = Object.freeze({ kind: 'createIfAbsent', extra: () => 1 })
  const guard = Object.freeze({ version: 'v', extra: () => 2 })
  const seen: unknown[] = []
  /** Answers with a value and keeps what it was asked with. */
  const answering =
    (value: unknown, ...kept: number[]) =>
    async (...args: unknown[]) => {
      seen.push(...kept.map((index) => args[index]))
      return value
    }
  const outcome = { operation: 'create', version: 'v', before: null, after: '' }
  Object.assign(made.fs, {
    resolve: async () => target,
    stat: answering(undefined, 0),
    writeText: answering(outcome, 0, 2),
    editText: answering({ ...outcome, before: '' }, 0, 2),
  })
  made.ctx.on('fs/write-intent', answering(intent, 0) as never, { prepend: true })
  made.ctx.on('fs/edit-intent', answering(guard, 0) as never, { prepend: true })
  made.ctx.on('fs/observed', (t) => void seen.push(t))
  await execute(made, 'write', write)
  await execute(made, 'edit', edit)
  await expect(execute(made, 'read', { file_path: 'f' })).rejects.toThrow('cannot read "/shown": not found')
  const expected = [target, target, intent, target, target, target, guard, target, target, target]
  expect(seen.length).toBe(expected.length)
  for (const [index, object] of expected.entries()) expect(seen[index]).toBe(object)
})

test('each call asks for the provider that is mounted then', async () => {
  const dir = temporaryDirectory()
  const ctx = await runtime()
  await ctx.plugin(ours, {})
  for (const content of ['first', 'second']) {
    const fiber = ctx.plugin(LocalFileSystem, { cwd: dir })
    await fiber
    Object.assign(rawFs(ctx), { readText: async () => content })
    writeFileSync(join(dir, 'f'), 'on disk')
    const result = await callTool(ctx, 'read', { file_path: 'f' })
    expect(JSON.stringify(result.content)).toContain(`1: ${content}`)
    await fiber.dispose()
  }
})
