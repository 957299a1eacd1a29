/**
 * What one call of each case does, built inside the process that is measured.
 * @module
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LAST_PAGE_LINES, type Place, type Work } from './cases.ts'
import { asciiText, linesOf, listPath, type Places, rewriteText, textPath, textsOf } from './data.ts'
import type { Mounted } from './mount.ts'

/** A case ready to be called. */
export interface Operation {
  /** One call. Calls are numbered from 0, as changes alternate between two contents. */
  run(index: number, signal: AbortSignal): Promise<unknown>
  /** What both sides must agree on after the call that gave `result`. */
  digest(result: unknown): string
}

function sha(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** The directory in which one process changes files. Both sides have names of the same length. */
export function workDirectory(places: Places, place: Place, name: string): string {
  const base = place === 'disk' ? places.disk : places.tmpfs
  if (base === null) throw new Error('no tmpfs on this machine')
  return join(base, name)
}

/** The digest of what a tool shows: its content, less the name of the working directory. */
function shown(result: unknown, directory = ''): string {
  const { content } = result as { content: unknown }
  const text = JSON.stringify(content)
  return sha(directory === '' ? text : text.replaceAll(directory, ''))
}

function toolRead(side: Mounted, places: Places, work: Work & { kind: 'toolRead' }): Operation {
  const offset = work.page === 'last' ? Math.max(1, linesOf(work.text) - LAST_PAGE_LINES + 1) : 1
  const calls = textsOf(work).map((spec) => ({ file_path: textPath(places, spec), ...(offset > 1 ? { offset } : {}) }))
  return together(
    calls.map((args) => (signal) => side.execute('read', args, signal)),
    (result) => shown(result),
  )
}

/** One call, or all calls at once if there are several. */
function together(calls: ((signal: AbortSignal) => Promise<unknown>)[], digest: (result: unknown) => string): Operation {
  const [only] = calls
  if (calls.length === 1 && only !== undefined) return { run: (_, signal) => only(signal), digest }
  return {
    run: (_, signal) => Promise.all(calls.map((call) => call(signal))),
    digest: (results) => sha((results as unknown[]).map(digest).join()),
  }
}

function providerRead(side: Mounted, places: Places, work: Work & { kind: 'readText' | 'streamText' | 'readBytes' | 'stat' }): Operation {
  const calls = textsOf(work).map((spec) => async (signal: AbortSignal) => {
    const target = await side.fs.resolve(textPath(places, spec), { signal })
    switch (work.kind) {
      case 'stat':
        return JSON.stringify([target, await side.fs.stat(target, signal)])
      case 'readText':
        return await side.fs.readText(target, signal)
      case 'readBytes':
        return await side.fs.readBytes(target, signal, spec.bytes)
      case 'streamText': {
        // A consumer that keeps nothing: the length is the least that needs every chunk.
        let length = 0
        for await (const chunk of await side.fs.streamText(target, signal)) length += chunk.length
        return `${length} units`
      }
    }
  })
  return together(calls, (result) => sha(result as string | Uint8Array))
}

function listDir(side: Mounted, path: string): Operation {
  return {
    async run(_, signal) {
      return await side.fs.listDir(await side.fs.resolve(path, { signal }), signal)
    },
    digest: (result) => sha(JSON.stringify(result)),
  }
}

/** Two contents of `bytes` bytes that differ in one line in the middle, and the two spellings of that line. */
function twoContents(bytes: number): { readonly contents: [string, string]; readonly lines: [string, string] } {
  const text = asciiText(bytes)
  const start = text.indexOf('\n', bytes >> 1) + 1
  const end = text.indexOf('\n', start)
  const width = end - start
  const lines: [string, string] = ['<first> '.padEnd(width, 'a').slice(0, width), '<other> '.padEnd(width, 'b').slice(0, width)]
  // Through bytes, so that each content is one flat string and not a rope of slices.
  const flat = (line: string): string => Buffer.from(text.slice(0, start) + line + text.slice(end)).toString('latin1')
  return { contents: [flat(lines[0]), flat(lines[1])], lines }
}

/** Makes a fresh directory with a file of `content`, read once so that the policy lets it be changed. */
async function observedFile(side: Mounted, directory: string, content: string): Promise<string> {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'file.txt')
  writeFileSync(path, content)
  await side.execute('read', { file_path: path, limit: 1 }, new AbortController().signal)
  return path
}

async function toolChange(side: Mounted, directory: string, work: Work & { kind: 'toolWrite' | 'toolEdit' }): Promise<Operation> {
  const { contents, lines } = twoContents(work.bytes)
  const path = await observedFile(side, directory, contents[0])
  const digest = (result: unknown): string => shown(result, directory) + sha(readFileSync(path))
  if (work.kind === 'toolWrite') {
    return { run: (index, signal) => side.execute('write', { file_path: path, content: contents[(index + 1) % 2] }, signal), digest }
  }
  return {
    run: (index, signal) =>
      side.execute('edit', { file_path: path, old_string: lines[index % 2], new_string: lines[(index + 1) % 2] }, signal),
    digest,
  }
}

/** Changes below the tools, guarded by the version that the change before gave. */
async function providerChange(side: Mounted, directory: string, work: Work & { kind: 'writeText' | 'editText' }): Promise<Operation> {
  const { contents, lines } = twoContents(work.bytes)
  const path = await observedFile(side, directory, contents[0])
  const target = await side.fs.resolve(path)
  const info = await side.fs.stat(target)
  if (info === undefined) throw new Error(`${path} is gone`)
  let { version } = info
  return {
    async run(index, signal) {
      const [from, to] = index % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
      const outcome =
        work.kind === 'writeText'
          ? await side.fs.writeText(target, contents[to], { kind: 'replaceIfVersion', version }, signal)
          : await side.fs.editText(target, { oldString: lines[from], newString: lines[to], replaceAll: false }, { version }, signal)
      version = outcome.version
      return outcome
    },
    digest(result) {
      const { before, after } = result as { before: string | null; after: string }
      return sha(JSON.stringify([before, after])) + sha(readFileSync(path))
    },
  }
}

function toolCreate(side: Mounted, directory: string, bytes: number): Operation {
  const content = asciiText(bytes)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  return {
    run: (index, signal) => side.execute('write', { file_path: join(directory, `new-${index}.txt`), content }, signal),
    digest: (result) => shown(result, directory),
  }
}

async function toolRewrite(side: Mounted, directory: string, lines: number): Promise<Operation> {
  const contents = [rewriteText(lines, 'before'), rewriteText(lines, 'after')] as const
  const path = await observedFile(side, directory, contents[0])
  return {
    run: (index, signal) => side.execute('write', { file_path: path, content: contents[index % 2 === 0 ? 1 : 0] }, signal),
    digest: (result) => shown(result, directory) + sha(readFileSync(path)),
  }
}

/**
 * Prepares a case on a mounted side.
 * @param name - names the directory of changed files.
 */
export async function prepare(side: Mounted, places: Places, work: Work, name: string): Promise<Operation> {
  switch (work.kind) {
    case 'toolRead':
      return toolRead(side, places, work)
    case 'readText':
    case 'streamText':
    case 'readBytes':
    case 'stat':
      return providerRead(side, places, work)
    case 'listDir':
      return listDir(side, listPath(places, work.entries))
    case 'toolWrite':
    case 'toolEdit':
      return await toolChange(side, workDirectory(places, work.place, name), work)
    case 'writeText':
    case 'editText':
      return await providerChange(side, workDirectory(places, work.place, name), work)
    case 'toolCreate':
      return toolCreate(side, workDirectory(places, work.place, name), work.bytes)
    case 'toolRewrite':
      return await toolRewrite(side, workDirectory(places, work.place, name), work.lines)
    case 'start':
      throw new Error('the start is measured by a process of its own')
  }
}
