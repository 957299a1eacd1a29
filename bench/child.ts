/**
 * A measured process: one side, one case. Obeys the commands of `protocol.ts`, one at a time.
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Place } from './cases.ts'
import { textPath, textsOf } from './data.ts'
import { peakSinceStart, startPeakMemory } from './memory.ts'
import type { Mounted } from './mount.ts'
import type { Operation } from './operations.ts'
import type { Command, Fresh, Reply, Stalls, Start, Task } from './protocol.ts'
import { watchStall } from './stall.ts'
import { median } from './stats.ts'

const task = JSON.parse(process.argv[2] ?? '') as Task

/** Calls whose stalls are taken, at most. */
const STALL_CALLS = 20

let side: Mounted | undefined
let operation: Operation | undefined
let calls = 0

async function mounted(): Promise<Mounted> {
  if (side === undefined) {
    // Imported late, as the start is measured too.
    const { mount } = await import('./mount.ts')
    side = await mount(task.side, tmpdir())
  }
  return side
}

async function prepared(): Promise<Operation> {
  if (operation === undefined) {
    const { prepare } = await import('./operations.ts')
    operation = await prepare(await mounted(), task.places, task.work, task.name)
  }
  return operation
}

/** One call, with a signal of its own as a tool call in a turn has. */
async function call(op: Operation): Promise<unknown> {
  return await op.run(calls++, new AbortController().signal)
}

async function verify(): Promise<string> {
  const op = await prepared()
  return op.digest(await call(op))
}

async function warm(ms: number): Promise<number> {
  const op = await prepared()
  const times: number[] = []
  const end = performance.now() + ms
  do {
    const start = performance.now()
    await call(op)
    times.push(performance.now() - start)
  } while (performance.now() < end)
  return median(times.slice(times.length >> 1))
}

async function sample(count: number): Promise<number> {
  const op = await prepared()
  const start = performance.now()
  for (let done = 0; done < count; done++) await call(op)
  return (performance.now() - start) / count
}

/** One small call of everything, so that a first call shows its own memory and not that of code loaded late. */
async function touchAll(place: Place): Promise<void> {
  const on = await mounted()
  const { workDirectory } = await import('./operations.ts')
  const directory = `${workDirectory(task.places, place, task.name)}-touch`
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'small.txt')
  writeFileSync(path, 'one\ntwo\n')
  const { signal } = new AbortController()
  await on.execute('read', { file_path: path }, signal)
  await on.execute('edit', { file_path: path, old_string: 'two', new_string: 'three' }, signal)
  await on.execute('write', { file_path: path, content: 'one\nfour\n' }, signal)
  const target = await on.fs.resolve(path)
  await on.fs.readText(target)
  await on.fs.readBytes(target, signal, 100)
  for await (const _ of await on.fs.streamText(target)) {
    // Nothing is done with it.
  }
  await on.fs.listDir(await on.fs.resolve(directory))
}

async function fresh(): Promise<Fresh> {
  await touchAll(task.places.tmpfs === null ? 'disk' : 'tmpfs')
  const op = await prepared()
  // The probe takes some memory of its own when it first runs.
  await watchStall(() => sleep(1))
  const memory = startPeakMemory()
  const first = await watchStall(() => dropped(op))
  return { firstMs: first.duration, memory: memory(), firstStall: first.stall }
}

async function stalls(ms: number): Promise<Stalls> {
  const op = await prepared()
  const idle = await watchStall(() => sleep(50))
  const found: number[] = []
  const end = performance.now() + ms
  do found.push((await watchStall(() => dropped(op))).stall)
  while (performance.now() < end && found.length < STALL_CALLS)
  return { calls: found, idle: idle.stall }
}

/** A call whose result is not kept while the probe settles. */
async function dropped(op: Operation): Promise<void> {
  await call(op)
}

async function start(): Promise<Start> {
  const began = performance.now()
  const [spec] = textsOf({ kind: 'stat', text: { bytes: 1024 } })
  if (spec === undefined) throw new Error('no text to read')
  await (await mounted()).execute('read', { file_path: textPath(task.places, spec) }, new AbortController().signal)
  return { ms: performance.now() - began, memory: peakSinceStart() }
}

async function obey(command: Command): Promise<unknown> {
  switch (command.kind) {
    case 'prepare':
      await prepared()
      return null
    case 'verify':
      return await verify()
    case 'warm':
      return await warm(command.ms)
    case 'sample':
      return await sample(command.calls)
    case 'stalls':
      return await stalls(command.ms)
    case 'fresh':
      return await fresh()
    case 'start':
      return await start()
  }
}

// The parent is gone: nobody wants the answer.
process.on('disconnect', () => process.exit())

process.on('message', (command: Command) => {
  obey(command).then(
    (value) => answer({ ok: true, value }),
    (error: unknown) => answer({ ok: false, message: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})

function answer(reply: Reply): void {
  process.send?.(reply)
}
