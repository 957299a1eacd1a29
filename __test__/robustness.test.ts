/** What the engine survives: thrown values of any kind, abandoned streams, ending threads and processes, many calls. */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cancellation, executeRead, LocalFs, type Target } from '../index.js'

const ADDON = path.resolve('index.js')
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

test('a write that is cancelled on its way leaves the old file and nothing else', async () => {
  const directory = path.join(root, 'cancelled')
  fs.mkdirSync(directory)
  fs.writeFileSync(path.join(directory, 'f'), 'old')
  const content = 'x'.repeat(64 << 20)
  let refused = 0
  for (const delay of [0, 1, 5, 20]) {
    const cancel = new Cancellation()
    const writing = engine.writeText(targetOf('cancelled/f'), content, undefined, cancel)
    setTimeout(() => cancel.cancel(), delay)
    const outcome = await writing.then(
      () => 'written',
      (error: Error) => error.message,
    )
    if (outcome !== 'written') {
      expect(outcome).toBe('write aborted')
      expect(fs.readFileSync(path.join(directory, 'f'), 'utf8')).toBe('old')
      refused++
    }
    fs.writeFileSync(path.join(directory, 'f'), 'old')
    expect(fs.readdirSync(directory)).toEqual(['f'])
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
