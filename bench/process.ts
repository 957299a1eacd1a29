/**
 * The parent's handle on a measured process.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process'
import type { Answer, Command, Reply, Task } from './protocol.ts'

const running = new Set<ChildProcess>()

/** Ends every measured process that still runs. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** A measured process, alive until {@link end}. */
export class MeasuredProcess {
  private readonly child: ChildProcess
  private readonly label: string

  /** @param fresh - the process is for memory: glibc then gives freed blocks back at once, so that they hide no growth. */
  constructor(task: Task, fresh = false) {
    this.label = `${task.side}: ${task.name}`
    this.child = fork(new URL('child.ts', import.meta.url), [JSON.stringify(task)], {
      execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
      env: fresh ? { ...process.env, MALLOC_TRIM_THRESHOLD_: '131072' } : process.env,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    running.add(this.child)
    this.child.once('exit', () => running.delete(this.child))
  }

  /** Sends one command and waits for its answer. Rejects with what the command threw, or when the process ends. */
  async ask<K extends Command['kind']>(command: Command & { readonly kind: K }): Promise<Answer<K>> {
    const reply = await new Promise<Reply>((resolve, reject) => {
      const onExit = (code: number | null, signal: string | null): void => {
        reject(new Error(`${this.label}: the process ended with ${signal ?? `code ${code}`}`))
      }
      this.child.once('exit', onExit)
      this.child.once('message', (message: Reply) => {
        this.child.off('exit', onExit)
        resolve(message)
      })
      this.child.send(command)
    })
    if (!reply.ok) throw new Error(`${this.label}: ${reply.message}`)
    return reply.value as Answer<K>
  }

  /** Ends the process and waits until it is gone. */
  async end(): Promise<void> {
    if (!running.has(this.child)) return
    const gone = new Promise((resolve) => this.child.once('exit', resolve))
    this.child.kill('SIGKILL')
    await gone
  }
}
