/** Plays the session in one composition of the harness and collects what the model, the disk and the log saw. */
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { type Message, type ModelServer, startModelServer, type ToolDefinition } from './model-server.ts'
import type { RunResult } from './processes.ts'
import type { Profile } from './profile.ts'
import { END, layOut, turns } from './scenario.ts'
import { SCENES } from './scenes.ts'
import { WORK } from './steps.ts'

const SESSION_MS = 90_000

/** What the harness kept of a tool result: the card data is what a user interface draws. */
export interface LoggedResult {
  isError: boolean
  content: unknown
  card: unknown
  error: unknown
}

export interface FileState {
  mode: number
  content: Buffer
}

export interface Played {
  outcome: RunResult
  server: Pick<ModelServer, 'url' | 'requests' | 'auxiliary' | 'problems'>
  tools: ToolDefinition[]
  systemPrompt: unknown
  /** The text the model received for each call, by call id, with `<root>` for the root. */
  results: Map<string, unknown>
  logged: Map<string, LoggedResult>
  /** Every file under the root afterwards, by its path with forward slashes. */
  files: Map<string, FileState>
}

/** A value with `<root>` for the root in all of its texts. */
export function withoutRoot<T>(value: T, root: string): T {
  const spelled = JSON.stringify(root).slice(1, -1)
  return JSON.parse(JSON.stringify(value).replaceAll(spelled, '<root>')) as T
}

/** The files under a root, by their paths with forward slashes. */
export function filesUnder(root: string): Map<string, FileState> {
  const result = new Map<string, FileState>()
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const name = relative(root, path).split(sep).join('/')
    result.set(name, { mode: statSync(path).mode & 0o7777, content: readFileSync(path) })
  }
  return result
}

interface LogEvent {
  type: string
  data: {
    message: { content: { toolCallId: string; content: unknown; isError: boolean }[] }
    meta?: unknown
    error?: unknown
  }
}

/** The log is appended frame by frame, and Node 22 decompresses one frame a call. */
function decompress(data: Buffer): string {
  const parts: Buffer[] = []
  for (let at = 0; at < data.length; ) {
    // With `info` the result is an object, which the type declarations do not know.
    const result = zstdDecompressSync(data.subarray(at), { info: true }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } }
    parts.push(result.buffer)
    at += result.engine.bytesWritten
  }
  return Buffer.concat(parts).toString('utf8')
}

/** The tool results of the one session in a harness home. */
function loggedResults(home: string): Map<string, LoggedResult> {
  const logs = readdirSync(join(home, 'sessions'), { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.name === 'session.jsonl.zstd',
  )
  const [log] = logs
  if (log === undefined || logs.length !== 1) throw new Error(`expected one session log, found ${logs.length}`)
  const text = decompress(readFileSync(join(log.parentPath, log.name)))
  const result = new Map<string, LoggedResult>()
  for (const line of text.trim().split('\n')) {
    const { type, data } = JSON.parse(line) as LogEvent
    if (type !== 'tool/result') continue
    for (const block of data.message.content) {
      result.set(block.toolCallId, { isError: block.isError, content: block.content, card: data.meta, error: data.error })
    }
  }
  return result
}

/** The text the model received for each call, by call id. */
export function resultsOf(messages: readonly Message[]): Map<string, unknown> {
  return new Map(messages.filter((message) => message.role === 'tool').map((message) => [String(message.tool_call_id), message.content]))
}

/**
 * Plays the whole session with one start of the command.
 * @param root a directory that does not exist yet, for the workspace; it must lie outside every temporary directory,
 *   since those are writable under confinement.
 */
export async function play(profile: Profile, root: string, progress: (text: string) => void): Promise<Played> {
  mkdirSync(join(root, 'outside'), { recursive: true })
  layOut(root)
  const server = await startModelServer(turns(root, SCENES, END), progress)
  try {
    const outcome = await profile.start(join(root, WORK), server.url, ['Play the session.'], SESSION_MS)
    progress(`ended with ${outcome.code ?? outcome.signal} after ${Math.round(outcome.milliseconds)} ms`)
    const last = server.requests.at(-1)
    if (last === undefined) throw new Error(`the harness asked nothing: ${outcome.stdout}\n${outcome.stderr}`)
    return {
      outcome,
      server,
      tools: last.tools ?? [],
      systemPrompt: withoutRoot(last.messages.find((message) => message.role === 'system')?.content, root),
      results: new Map(Object.entries(withoutRoot(Object.fromEntries(resultsOf(last.messages)), root))),
      logged: new Map(Object.entries(withoutRoot(Object.fromEntries(loggedResults(profile.home)), root))),
      files: filesUnder(root),
    }
  } finally {
    await server.close()
  }
}
