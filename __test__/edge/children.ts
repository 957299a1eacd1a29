/**
 * Starting the child process of `child.ts`, plainly or behind the gate of `gate.rs`.
 * @module
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Job, Report } from './child.ts'

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url))
const GATE_SOURCE = fileURLToPath(new URL('gate.rs', import.meta.url))
/** Node 22 speaks up about running TypeScript. */
const NODE = [process.execPath, '--disable-warning=ExperimentalWarning', CHILD]

/** A stopped system call of a gated child. */
export interface Stop {
  call: 'open' | 'rename' | 'link' | 'unlink' | 'rmdir' | 'mkdir'
  /** The absolute path, and the second one of a rename or link. */
  paths: [string, string?]
}

/** What becomes of it: the kernel carries it out, or it returns this errno. */
export type Reply = 'go' | { fail: number }

export interface Gate {
  /** Calls are stopped when they have a path that begins so. */
  prefix: string
  calls: Stop['call'][]
  onStop(stop: Stop): Reply | Promise<Reply>
}

export interface ChildOptions {
  env?: Record<string, string>
  /** A command that runs the one appended to it. */
  wrap?: string[]
  gate?: Gate & { program: string }
}

/** Plays a job in a process of its own. Rejects when the process does not end with a report. */
export async function runChild(job: Job, { env = {}, wrap = [], gate }: ChildOptions = {}): Promise<Report> {
  const gated = gate ? [gate.program, 'run', gate.prefix, gate.calls.join(), '--'] : []
  const [command, ...args] = [...wrap, ...gated, ...NODE] as [string, ...string[]]
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] })
  const [stdin, stdout, stderr, stops, replies] = child.stdio as unknown as [
    NodeJS.WritableStream,
    NodeJS.ReadableStream,
    NodeJS.ReadableStream,
    NodeJS.ReadableStream,
    NodeJS.WritableStream,
  ]
  const ended = new Promise<number | string | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve(code ?? signal))
  })
  stdin.on('error', () => {}) // a child that could not start says why on standard error
  replies.on('error', () => {})
  stdin.end(JSON.stringify(job))
  try {
    const answered = gate ? answer(gate, stops, replies) : Promise.resolve()
    const [status, output, errors] = await Promise.all([ended, text(stdout), text(stderr), answered])
    if (status !== 0) throw new Error(`the child process ended with ${status}: ${errors}`)
    return JSON.parse(output) as Report
  } finally {
    child.kill('SIGKILL')
  }
}

async function answer(gate: Gate, stops: NodeJS.ReadableStream, replies: NodeJS.WritableStream): Promise<void> {
  for await (const line of createInterface({ input: stops })) {
    const [call, ...paths] = line.split('\t')
    const reply = await gate.onStop({ call, paths } as Stop)
    replies.write(reply === 'go' ? 'go\n' : `fail ${reply.fail}\n`)
  }
}

/**
 * @param script of a shell, which finds the arguments as `$0`, `$1` and so on.
 * @returns a wrapping command that runs the script in a mount namespace of its own, which ends with the child.
 */
export function inMountNamespace(script: string, ...args: [string, ...string[]]): string[] {
  // Who may not mount becomes root of a user namespace first.
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const shifted = args.slice(1).map(() => 'shift && ')
  return ['unshare', '--mount', ...asRoot, 'sh', '-c', `${script} && ${shifted.join('')}exec "$@"`, ...args]
}

/** Builds the gate in a directory of its own. @returns its path, and what removes it. */
export async function buildGate(): Promise<{ program: string; remove(): Promise<void> }> {
  if (process.platform !== 'linux') throw new Error('stopping system calls needs Linux')
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'edge-gate-')))
  const program = join(directory, 'gate')
  await promisify(execFile)('rustc', ['--edition', '2024', '-o', program, GATE_SOURCE])
  return { program, remove: () => rm(directory, { recursive: true }) }
}
