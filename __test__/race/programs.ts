/** The two native programs of the race, and processes that run until their input ends. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { PROJECT } from '../dsh/place.ts'

export interface Programs {
  swap: string
  withoutOpenat2: string
}

const NAMES = ['swap', 'without-openat2']

/** Builds both with cargo, as examples of the crate. @throws with what cargo said if it cannot. */
export async function buildPrograms(): Promise<Programs> {
  if (process.platform !== 'linux') throw new Error('the race needs Linux: it exchanges two names in one step')
  const args = ['build', '--quiet', '--locked', '--message-format=json-render-diagnostics', ...NAMES.flatMap((name) => ['--example', name])]
  const { stdout } = await promisify(execFile)('cargo', args, { cwd: PROJECT, maxBuffer: 64 << 20 }).catch((error: Error) => {
    throw new Error(`the programs of the race could not be built (they need the Rust toolchain): ${error.message}`, { cause: error })
  })
  const [swap, withoutOpenat2] = NAMES.map((name) => executable(stdout, name))
  return { swap: swap!, withoutOpenat2: withoutOpenat2! }
}

/** Where cargo says that it put an example. */
function executable(output: string, name: string): string {
  for (const line of output.split('\n').filter(Boolean)) {
    const message = JSON.parse(line) as { target?: { name: string }; executable?: string | null }
    if (message.target?.name === name && message.executable) return message.executable
  }
  throw new Error(`cargo does not say where the example ${name} is`)
}

const MOST_TO_END_MS = 20_000

/** A process that does its work until its standard input ends, and then reports in JSON. */
export class Worker<T> {
  private readonly child: ChildProcess
  private readonly outcome: Promise<T>

  constructor(command: string, args: readonly string[]) {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    this.child = child
    child.stdin.on('error', () => {}) // one that has died says why on standard error
    const ended = new Promise<number | string | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => resolve(code ?? signal))
    })
    this.outcome = Promise.all([ended, text(child.stdout), text(child.stderr)]).then(([status, output, errors]) => {
      if (status !== 0) throw new Error(`${command} ended with ${status}: ${errors}`)
      return JSON.parse(output) as T
    })
    this.outcome.catch(() => {}) // it is told when the worker is stopped
  }

  /** Ends the work. @returns the report. Rejects if the process had died, or does not end. */
  async stop(): Promise<T> {
    this.child.stdin?.end()
    const timer = setTimeout(() => this.kill(), MOST_TO_END_MS)
    try {
      return await this.outcome
    } finally {
      clearTimeout(timer)
    }
  }

  kill(): void {
    this.child.kill('SIGKILL')
  }
}
