/** Child processes of the end-to-end test: output collected, each with a time limit, none left behind. */
import { type ChildProcess, spawn } from 'node:child_process'

export interface RunOptions {
  cwd: string
  /** The whole environment of the child; nothing is inherited beside it. */
  env: Record<string, string | undefined>
  timeoutMs: number
  /** Told each piece of the child's output as it comes. */
  onOutput?: (text: string) => void
}

export interface RunResult {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  timedOut: boolean
  milliseconds: number
}

const POSIX = process.platform !== 'win32'
const running = new Set<ChildProcess>()

function kill(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    // A group of its own on POSIX, so that what the child started goes too.
    if (POSIX) process.kill(-child.pid, 'SIGKILL')
    else child.kill('SIGKILL')
  } catch {
    // It has ended already.
  }
}

/** Ends every child that still runs. */
export function killAll(): void {
  for (const child of running) kill(child)
}

process.once('exit', killAll)

/** Whether a process of this id runs; one of somebody else's counts. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Runs a command to its end.
 * @param command a program; on Windows also the name of a `.cmd` script.
 * @returns the outcome, whatever the exit code; a run over its time limit is killed and says so.
 * @throws if the command cannot be started.
 */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const started = performance.now()
  const script = !POSIX && command !== process.execPath
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env,
    detached: POSIX,
    shell: script,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8')
    child[name].on('data', (text: string) => {
      output[name] += text
      options.onOutput?.(text)
    })
  }
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    kill(child)
  }, options.timeoutMs)
  try {
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (exitCode, exitSignal) => resolve([exitCode, exitSignal]))
    })
    return { code, signal, ...output, timedOut, milliseconds: performance.now() - started }
  } finally {
    clearTimeout(timer)
    kill(child)
    running.delete(child)
  }
}

/** As `run`, but anything else than exit code 0 is an error that carries the output. */
export async function runWell(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const result = await run(command, args, options)
  if (result.code === 0) return result
  const end = result.timedOut ? `was killed after ${options.timeoutMs} ms` : `ended with ${result.code ?? result.signal}`
  throw new Error(`${command} ${args.join(' ')} ${end}\n${result.stdout}\n${result.stderr}`)
}
