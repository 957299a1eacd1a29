/**
 * What the engine survives: thrown values of any kind, wrong receivers, abandoned streams, ending threads and processes,
 * many calls.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { getEventListeners, once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Cancellation, executeEdit, executeRead, executeWrite, LocalFs, type ProviderCallbacks, type Target } from '../index.js'
import { NativeFileSystem } from '../plugin/provider.ts'
import { runtime } from './side-by-side.ts'

const ADDON = path.resolve('index.js')
const LINUX = process.platform === 'linux'
let root: string
let engine: LocalFs

beforeAll(() => {
  root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'dsh-fs-native-robust-'))
  engine = new LocalFs({ cwd: root, diffBasisMaxBytes: 1 << 20, createError })
})

afterAll(() => fs.rmSync(root, { recursive: true, force: true }))

function createError(message: string, code: string): Error {
  return Object.assign(new Error(message), { code })
}

function targetOf(name: string): Target {
  const file = path.join(root, name)
  return { targetKey: file, displayPath: file }
}

function openDescriptors(): number {
  return fs.readdirSync('/proc/self/fd').length
}

/** A script of its own process or thread: `engine`, `target`, `createError` and everything of the addon are there. */
function scriptOf(body: string): string {
  return `import(${JSON.stringify(ADDON)}).then(async ({ LocalFs, executeRead, executeWrite, executeEdit, Cancellation }) => {
    const createError = (message, code) => Object.assign(new Error(message), { code })
    const engine = new LocalFs({ cwd: ${JSON.stringify(root)}, diffBasisMaxBytes: 1, createError })
    const target = (name) => ({ targetKey: ${JSON.stringify(root + path.sep)} + name, displayPath: name })
    const request = (name) => ({ path: name, ...${JSON.stringify(LIMITS)} })
    ${body}
  })`
}

/** Runs a script in a process of its own to its end; `status` is null if it had to be killed. */
function runScript(body: string, { timeout = 10_000, args = [] as string[] } = {}) {
  const options = { encoding: 'utf8', timeout, killSignal: 'SIGKILL' } as const
  return spawnSync(process.execPath, [...args, '-e', scriptOf(body)], options)
}

const LIMITS = { readLimit: 10, readMaxLineLength: 100, readMaxBytes: 1000, readStreamMinSize: 1e6 }

test.each([['a string'], [undefined], [null], [0], [Symbol('s')], [Object.freeze(new Error('frozen'))]])(
  'what observed throws comes out as it is: %s',
  async (thrown) => {
    fs.writeFileSync(path.join(root, 'seen'), 'x')
    const request = { path: 'seen', cwd: undefined, offset: undefined, limit: undefined, ...LIMITS }
    const observed = () => {
      throw thrown
    }
    const outcome = await executeRead(engine, request, { createError, observed }).then(
      () => 'resolved',
      (error: unknown) => [error],
    )
    expect(outcome).toEqual([thrown])
    expect((outcome as unknown[])[0]).toBe(thrown)
  },
)

test('wrong arguments are refused and harm nothing', async () => {
  const calls: (() => unknown)[] = [
    () => engine.resolve(7 as unknown as string, undefined),
    () => engine.stat(null as unknown as Target),
    () => engine.stat({} as Target),
    () => engine.readBytes(targetOf('seen'), 'many' as unknown as number),
    () => new LocalFs({} as ConstructorParameters<typeof LocalFs>[0]),
    () => executeRead({} as LocalFs, {} as never, {} as never),
  ]
  for (const call of calls) await expect(Promise.resolve().then(call)).rejects.toThrow()
  expect(await engine.readText(targetOf('seen'))).toBe('x')
})

test('64 edits of one file at once are all applied, in the order of the calls', async () => {
  fs.writeFileSync(path.join(root, 'shared'), '|')
  const edits = Array.from({ length: 64 }, (_, index) =>
    engine.editText(targetOf('shared'), { oldString: '|', newString: `${index} |`, replaceAll: false }, undefined),
  )
  await Promise.all(edits)
  const expected = `${Array.from({ length: 64 }, (_, index) => `${index} `).join('')}|`
  expect(fs.readFileSync(path.join(root, 'shared'), 'utf8')).toBe(expected)
})

test('failures give the lock back', async () => {
  fs.writeFileSync(path.join(root, 'locked'), 'a')
  const missing = { oldString: 'b', newString: 'c', replaceAll: false }
  for (let round = 0; round < 50; round++) await expect(engine.editText(targetOf('locked'), missing, undefined)).rejects.toThrow()
  expect((await engine.writeText(targetOf('locked'), 'b', undefined)).operation).toBe('update')
})

test.runIf(process.platform === 'linux')('streams given up and failed calls leave no descriptor open', async () => {
  fs.writeFileSync(path.join(root, 'long'), 'x'.repeat(3 << 20))
  const before = openDescriptors()
  for (let round = 0; round < 50; round++) {
    const stream = engine.openText(targetOf('long'))
    await stream.next()
    await stream.close()
    await expect(engine.readText(targetOf('absent'))).rejects.toThrow('not found')
    await expect(engine.readBytes(targetOf('long'), 10)).rejects.toThrow('exceeds')
  }
  expect(openDescriptors()).toBe(before)
})

/** Waits until something is staged beside the only file of `directory`; false if `settled` comes first. */
async function staging(directory: string, settled: Promise<unknown>): Promise<boolean> {
  let over = false
  const end = () => {
    over = true
  }
  settled.then(end, end)
  while (!over && fs.readdirSync(directory).length < 2) await setImmediate()
  return !over
}

test.each([
  ['write', (cancel: Cancellation) => engine.writeText(targetOf('cancelled/f'), 'x'.repeat(64 << 20), undefined, cancel)],
  [
    'edit',
    (cancel: Cancellation) => {
      const edit = { oldString: 'needle', newString: 'x'.repeat(8 << 20), replaceAll: true }
      return engine.editText(targetOf('cancelled/f'), edit, undefined, cancel)
    },
  ],
])('%s: cancelled while it is staged, the old file stays and nothing else', async (_name, mutate) => {
  const directory = path.join(root, 'cancelled')
  fs.mkdirSync(directory, { recursive: true })
  const old = 'needle '.repeat(8)
  let refused = 0
  for (const delay of [0, 1, 3, 5, 10]) {
    fs.writeFileSync(path.join(directory, 'f'), old)
    const cancel = new Cancellation()
    const mutating = mutate(cancel)
    if (await staging(directory, mutating)) await setTimeout(delay)
    cancel.cancel()
    const outcome = await mutating.then(
      () => 'published',
      (error: Error) => error.message,
    )
    expect(fs.readdirSync(directory)).toEqual(['f'])
    if (outcome === 'published') continue
    expect(outcome).toBe('write aborted')
    expect(fs.readFileSync(path.join(directory, 'f'), 'utf8')).toBe(old)
    refused++
  }
  expect(refused).toBeGreaterThan(0)
})

test('a process ends after its last call and not before', () => {
  const script = `import { LocalFs } from ${JSON.stringify(ADDON)}
    const engine = new LocalFs({ cwd: '/', diffBasisMaxBytes: 1, createError: (message) => new Error(message) })
    engine.readText({ targetKey: ${JSON.stringify(path.join(root, 'seen'))}, displayPath: 'seen' }).then((text) => console.log(text))`
  const args = ['--input-type=module', '-e', script]
  expect(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 20_000 })).toBe('x\n')
})

test('threads can be ended in the middle of their calls', async () => {
  fs.writeFileSync(path.join(root, 'large'), 'line\n'.repeat(4 << 20))
  const script = `const { parentPort } = require('node:worker_threads')
    import(${JSON.stringify(ADDON)}).then(({ LocalFs }) => {
      const engine = new LocalFs({ cwd: '/', diffBasisMaxBytes: 1, createError: (message) => new Error(message) })
      const target = { targetKey: ${JSON.stringify(path.join(root, 'large'))}, displayPath: 'large' }
      for (let call = 0; call < 20; call++) { engine.readText(target).catch(() => {}); engine.stat(target) }
      parentPort.postMessage('busy')
    })`
  for (let round = 0; round < 10; round++) {
    const worker = new Worker(script, { eval: true })
    await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    await worker.terminate()
  }
  expect((await engine.stat(targetOf('large')))?.size).toBe(5 * (4 << 20))
})

describe('what a callback throws comes out as the very same value', () => {
  const values = [undefined, null, 0, '', Symbol('s'), Object.freeze({}), Object.freeze(new Error('frozen')), new Error('plain')]
  const file: Target = { targetKey: '/f', displayPath: '/f' }
  const foreign: ProviderCallbacks = {
    resolve: async () => file,
    stat: async () => ({ version: 'v', type: 'file' }),
    readText: async () => 'text',
    openText: async () => undefined,
    nextText: async () => null,
    writeText: async () => ({ operation: 'create', version: 'v', before: null, after: '' }),
    editText: async () => ({ version: 'v', before: '', after: '' }),
  }
  const hooks = { createError, observed() {}, explain: (error: unknown) => error }
  const read = { path: 'f', ...LIMITS }
  const write = { path: 'f', content: 'x' }
  const edit = { path: 'f', oldString: 'a', newString: 'b', replaceAll: false }

  const calls: [string, (fail: () => never) => Promise<unknown>][] = [
    ['createError', (fail) => executeRead(engine, { ...read, path: '/' }, { ...hooks, createError: fail })],
    ['authorize', (fail) => executeWrite(engine, write, { ...hooks, authorize: async () => fail() })],
    ['writeIntent', (fail) => executeWrite(engine, write, { ...hooks, writeIntent: async () => fail() })],
    ['writeIntent, at once', (fail) => executeWrite(engine, write, { ...hooks, writeIntent: fail })],
    ['editIntent', (fail) => executeEdit(engine, edit, { ...hooks, editIntent: async () => fail() })],
    ['explain', (fail) => executeEdit(engine, { ...edit, path: 'absent' }, { ...hooks, explain: fail })],
    ['resolve', (fail) => executeRead({ ...foreign, resolve: async () => fail() }, read, hooks)],
    ['stat', (fail) => executeRead({ ...foreign, stat: fail }, read, hooks)],
    ['openText', (fail) => executeRead({ ...foreign, openText: async () => fail() }, read, hooks)],
    ['nextText', (fail) => executeRead({ ...foreign, nextText: async () => fail() }, read, hooks)],
    ['writeText', (fail) => executeWrite({ ...foreign, writeText: async () => fail() }, write, hooks)],
    ['editText', (fail) => executeEdit({ ...foreign, editText: async () => fail() }, edit, hooks)],
  ]
  test.each(calls)('%s', async (_name, call) => {
    for (const value of values) {
      const fail = () => {
        throw value
      }
      const thrown = await call(fail).then(
        () => ['nothing'],
        (error: unknown) => [error],
      )
      expect(thrown[0]).toBe(value)
    }
  })
})

test('objects of another class are refused as receiver, provider and cancellation', async () => {
  const cancel = new Cancellation()
  const file = targetOf('seen')
  const wrong = [cancel, {}, Object.create(LocalFs.prototype), new Proxy(engine, {}), engine.openText(file), undefined, null, 1]
  for (const value of wrong) {
    expect(() => LocalFs.prototype.stat.call(value, file), 'receiver').toThrow()
    expect(() => executeRead(value as LocalFs, { path: 'seen', ...LIMITS }, { createError, observed() {} }), 'provider').toThrow()
    // A missing cancellation is none; anything else must be one.
    if (value === cancel || value === undefined || value === null) continue
    expect(() => engine.stat(file, value as Cancellation), 'cancellation').toThrow()
  }
  expect(() => Cancellation.prototype.cancel.call(engine)).toThrow()
  expect((await engine.stat(file))?.size).toBe(1)
})

test('10,000 reads at once', async () => {
  const texts = await Promise.all(Array.from({ length: 10_000 }, () => engine.readText(targetOf('seen'))))
  expect(new Set(texts)).toEqual(new Set(['x']))
})

test('a million replacements, each with the line break of its surroundings', async () => {
  const lines = 1_000_000
  fs.writeFileSync(path.join(root, 'million'), 'x needle y\r\n'.repeat(lines))
  await engine.editText(targetOf('million'), { oldString: 'needle', newString: 'a\nb', replaceAll: true }, undefined)
  expect(fs.readFileSync(path.join(root, 'million'), 'utf8') === 'x a\r\nb y\r\n'.repeat(lines)).toBe(true)
})

test('files that shrink while they are read settle with what was there', async () => {
  const file = path.join(root, 'shrinking')
  const line = 'eight b\n'
  for (let round = 0; round < 5; round++) {
    fs.writeFileSync(file, line.repeat(2 << 20))
    const reads = [1, 2, 3].map(() => engine.readText(targetOf('shrinking')))
    const shown = executeRead(engine, { path: 'shrinking', ...LIMITS }, { createError, observed() {} })
    await setTimeout(round)
    fs.truncateSync(file, line.length * 1000)
    // The system may show the zeros that it cuts a file with.
    for (const text of await Promise.all(reads)) expect(/^\0*$/.test(text.replaceAll(line, ''))).toBe(true)
    expect((await shown).text).toBe(Array(10).fill(line.trimEnd()).join('\n'))
  }
})

test.runIf(LINUX)('a read of a line of 200 MB takes next to no memory', () => {
  const file = fs.openSync(path.join(root, 'one-line'), 'w')
  const block = Buffer.alloc(1 << 20, 'a')
  for (let written = 0; written < 200; written++) fs.writeSync(file, block)
  fs.closeSync(file)
  const { stdout } = runScript(`
    const peak = () => process.resourceUsage().maxRSS / 1024
    const read = () => executeRead(engine, request('one-line'), { createError, observed() {} })
    await executeRead(engine, request('million'), { createError, observed() {} })
    const before = peak()
    const { text } = await read()
    console.log(JSON.stringify({ growth: peak() - before, length: text.length }))`)
  const { growth, length } = JSON.parse(stdout)
  expect(length).toBeLessThan(200)
  expect(growth).toBeLessThan(8)
})

test.runIf(LINUX)('without a free descriptor calls fail and work again later', () => {
  const body = `
    const fs = require('node:fs')
    fs.writeFileSync(target('few').targetKey, 'a needle')
    await engine.readText(target('few'))
    const held = []
    try { for (;;) held.push(fs.openSync(target('few').targetKey)) } catch {}
    const edit = () => engine.editText(target('few'), { oldString: 'needle', newString: 'b', replaceAll: false })
    const calls = [() => engine.readText(target('few')), () => engine.writeText(target('few'), 'new'), edit, () => engine.openText(target('few')).next()]
    const codes = []
    for (const call of calls) codes.push(await call().then(() => 'ok', (error) => error.message.includes('EMFILE')))
    for (const one of held) fs.closeSync(one)
    await edit()
    console.log(JSON.stringify([codes, await engine.readText(target('few'))]))`
  const limited = `ulimit -n 128 && exec "$0" -e "$1"`
  const stdout = execFileSync('sh', ['-c', limited, process.execPath, scriptOf(body)], { encoding: 'utf8', timeout: 10_000 })
  expect(JSON.parse(stdout)).toEqual([[true, true, true, true], 'a b'])
})

test('a process that is killed while it publishes leaves the old content or the new', async () => {
  const directory = path.join(root, 'killed')
  const file = path.join(directory, 'f')
  const [old, content] = ['o'.repeat(20 << 20), 'n'.repeat(21 << 20)]
  for (const delay of [0, 10, 20, 40, 60, 80]) {
    fs.mkdirSync(directory)
    fs.writeFileSync(file, old)
    const child = spawn(process.execPath, ['-e', scriptOf(`engine.writeText(target('killed/f'), 'n'.repeat(${content.length}))`)])
    const exit = once(child, 'exit')
    if (await staging(directory, exit)) await setTimeout(delay)
    child.kill('SIGKILL')
    await exit
    const left = fs.readFileSync(file, 'utf8')
    expect(left === old || left === content, `${left.length} bytes after ${delay} ms`).toBe(true)
    fs.rmSync(directory, { recursive: true })
  }
})

test.each([
  ['at once', 'process.exit(7)'],
  ['a little later', 'setTimeout(() => process.exit(7), 5)'],
  ['in observed', "executeRead(engine, request('seen'), { createError, observed: () => process.exit(7) })"],
  ['in a hook', "executeWrite(engine, { path: 'q', content: '' }, { createError, observed() {}, writeIntent: () => process.exit(7) })"],
])('a process may end itself in the middle of calls: %s', (_when, exit) => {
  const { status, signal } = runScript(`
    for (let call = 0; call < 20; call++) {
      engine.readText(target('million'))
      engine.writeText(target('exiting'), 'x'.repeat(1 << 20))
      engine.openText(target('million')).next()
    }
    ${exit}`)
  expect({ status, signal }).toEqual({ status: 7, signal: null })
})

test.runIf(LINUX)('thousands of calls through the provider leave no listener and no descriptor', async () => {
  const ctx = await runtime()
  await ctx.plugin(NativeFileSystem, { cwd: root })
  const { signal } = new AbortController()
  const [small, large] = [await ctx.fs.resolve('seen'), await ctx.fs.resolve('million')]
  const absent = { ...small, targetKey: `${small.targetKey}-absent` } as typeof small
  const before = openDescriptors()
  for (let round = 0; round < 100; round++) {
    const reads = Array.from({ length: 20 }, () => [ctx.fs.readText(small, signal), ctx.fs.readText(absent, signal)])
    await Promise.allSettled(reads.flat())
  }
  for (let round = 0; round < 50; round++) {
    // Given up after a chunk; never begun; given up while a chunk is on its way.
    for await (const chunk of await ctx.fs.streamText(large, signal)) if (chunk !== '') break
    await ctx.fs.streamText(large, signal)
    const chunks = (await ctx.fs.streamText(large, signal))[Symbol.asyncIterator]()
    await Promise.all([chunks.next(), chunks.return?.()])
  }
  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(openDescriptors()).toBe(before)
})

describe('faults that were found', () => {
  // The original refuses both as stale; ours takes them for no guard at all.
  test.each([
    ['by the provider', () => engine.writeText(targetOf('guarded'), 'new', { kind: 'replaceIfVersion' })],
    [
      'by the tool',
      () => {
        const writeIntent = async () => ({ kind: 'replaceIfVersion' as const })
        return executeWrite(engine, { path: 'guarded', content: 'new' }, { createError, observed() {}, writeIntent })
      },
    ],
  ])('a guard that lacks its version is not taken for none: %s', async (_by, write) => {
    fs.writeFileSync(path.join(root, 'guarded'), 'precious')
    await write().catch(() => undefined)
    expect(fs.readFileSync(path.join(root, 'guarded'), 'utf8')).toBe('precious')
  })

  // What the file says of its size is 0; it has 256 GB. Killed at 600 MB.
  for (const call of ['readText(file)', "editText(file, { oldString: 'a', newString: 'b', replaceAll: false })"]) {
    test.runIf(LINUX && fs.existsSync('/proc/self/pagemap'))(`a file without an end is refused: ${call}`, () => {
      const { stdout, signal } = runScript(`
        setInterval(() => process.memoryUsage.rss() > 600e6 && process.kill(process.pid, 'SIGKILL'), 10)
        const file = { targetKey: '/proc/self/pagemap', displayPath: 'pagemap' }
        await engine.${call}.catch((error) => console.log(error.code))
        process.exit()`)
      expect(signal).toBeNull()
      expect(stdout.trim()).toMatch(/^FS_(NOT_TEXT|TOO_LARGE)$/)
    })
  }

  test('what a thread had queued is not written after its end', async () => {
    const directory = path.join(root, 'ended')
    fs.mkdirSync(directory)
    const body = `
      for (let call = 0; call < 60; call++) engine.writeText(target('ended/' + call), 'x'.repeat(2 << 20)).catch(() => {})
      require('node:worker_threads').parentPort.postMessage('busy')
      setInterval(() => {}, 1000)`
    const worker = new Worker(scriptOf(body), { eval: true })
    await once(worker, 'message')
    await worker.terminate()
    const published = () => fs.readdirSync(directory).filter((name) => !name.startsWith('.')).length
    const before = published()
    await setTimeout(1500)
    // What the pool's four threads were working on may still come out.
    expect(published() - before).toBeLessThanOrEqual(4)
  })

  test('a hook that never settles does not keep the process alive', () => {
    const { status } = runScript(
      `executeWrite(engine, { path: 'q', content: '' }, { createError, observed() {}, writeIntent: () => new Promise(() => {}) })`,
      { timeout: 2000 },
    )
    expect(status).toBe(0)
  })

  test('a callback that returns no promise counts as one that resolved with the value', () => {
    const body = `
      process.on('uncaughtException', () => console.log('uncaught'))
      const hooks = { createError, observed() {}, writeIntent: () => undefined }
      console.log((await executeWrite(engine, { path: 'q', content: '' }, hooks)).operation)
      hooks.writeIntent = () => ({ kind: 'replaceIfVersion', version: 'other' })
      await executeWrite(engine, { path: 'q', content: '' }, hooks).catch((error) => console.log(error.message.split(':').at(-1)))`
    const { stdout } = runScript(body, { args: ['--force-node-api-uncaught-exceptions-policy=true'] })
    expect(stdout.trim().split('\n')).toEqual(['create', ' file changed since it was read'])
  })

  test.each([
    ['throws', 'then() { throw new Error("odd") }'],
    ['is none', 'then: undefined'],
    ['calls back twice', 'then(done) { done(); done() }'],
  ])('a promise whose own then %s disturbs no other call', (_name, odd) => {
    const body = `
      const authorize = () => Object.defineProperties(Promise.resolve(), Object.getOwnPropertyDescriptors({ ${odd} }))
      const write = executeWrite(engine, { path: 'q', content: '' }, { createError, observed() {}, authorize }).catch(() => undefined)
      const others = [1, 2, 3].map(() => engine.stat({ targetKey: '/', displayPath: '/' }))
      console.log((await Promise.all([...others, write])).slice(0, 3).map((info) => info.type).join())`
    const { stdout, status } = runScript(body, { timeout: 5000 })
    expect([stdout.trim(), status]).toEqual(['directory,directory,directory', 0])
  })

  test('a confined file has one queue, however its path is spelled', async () => {
    const file = path.join(root, 'spelled')
    fs.writeFileSync(file, '')
    const spellings = [file, `${root}//spelled`, `${root}/./spelled`, `${root}/x/../spelled`]
    const confinement = { mode: 'workspace-write' as const, roots: [root] }
    fs.writeFileSync(file, '<end>')
    const edits = Array.from({ length: 80 }, (_, number) => {
      const spelled = spellings[number % 4] as string
      const edit = { oldString: '<end>', newString: `${number} <end>`, replaceAll: false }
      return engine.editText({ targetKey: spelled, displayPath: spelled }, edit, undefined, undefined, confinement)
    })
    await Promise.all(edits)
    expect(fs.readFileSync(file, 'utf8').split(' ')).toHaveLength(81)
  })
})
