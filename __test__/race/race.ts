/**
 * The race of a confining provider against somebody who swaps a directory of the workspace for a link that leads out of
 * it. Whatever the moment of a swap, nothing outside may change.
 */
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeArena } from './arena.ts'
import { type Programs, Worker } from './programs.ts'
import { type Escapes, total, Watch } from './watch.ts'
import type { Job, Report } from './writer.ts'

export const OURS = 'dsh-fs-native/sandbox'
export const ORIGINAL = '@deepseek-ai/dsh-fs-sandbox'

export interface Race {
  provider: typeof OURS | typeof ORIGINAL
  seconds: number
  seed: number
  /** On a kernel that seems to lack `openat2`. */
  withoutOpenat2?: boolean
  /** End at the first escape. */
  untilEscape?: boolean
}

/** How often the directory became the link, by the way in which it did. */
export interface Swaps {
  exchanges: number
  renames: number
}

export interface Result {
  milliseconds: number
  swaps: Swaps
  report: Report
  escapes: Escapes
}

const WRITER = fileURLToPath(new URL('writer.ts', import.meta.url))
/** Node 22 speaks up about running TypeScript. */
const NODE = [process.execPath, '--disable-warning=ExperimentalWarning', WRITER]
const COMPARE_EVERY_MS = 200

/** Runs one race in directories of its own. */
export async function race(programs: Programs, { provider, seconds, seed, withoutOpenat2, untilEscape }: Race): Promise<Result> {
  const arena = makeArena()
  const job: Job = { provider, workspace: arena.workspace, seed }
  const [command, ...args] = [...(withoutOpenat2 ? [programs.withoutOpenat2] : []), ...NODE, JSON.stringify(job)]
  const watch = new Watch(arena.outside)
  const started = performance.now()
  const passed = (): number => performance.now() - started
  const swapper = new Worker<Swaps>(programs.swap, [arena.workspace, arena.outside, String(seed)])
  const writer = new Worker<Report>(command!, args)
  try {
    do {
      await setTimeout(COMPARE_EVERY_MS)
      watch.compare()
    } while (passed() < seconds * 1000 && !(untilEscape && total(watch.escapes) > 0))
    const milliseconds = passed()
    const report = await writer.stop()
    const swaps = await swapper.stop()
    watch.compare()
    return { milliseconds, swaps, report, escapes: watch.escapes }
  } finally {
    for (const worker of [writer, swapper]) worker.kill()
    arena.remove()
  }
}

/** A result in a few lines of text. */
export function describeResult({ milliseconds, swaps, report, escapes }: Result): string {
  const { attempts, successes, codes, untyped, samples } = report
  const rejected = Object.entries(codes).map(([code, count]) => `${count} ${code}`)
  return [
    `${(milliseconds / 1000).toFixed(1)} s, ${swaps.exchanges} exchanges, ${swaps.renames} swaps by renaming`,
    `${attempts} attempts: ${[`${successes} successes`, ...rejected, `${untyped} untyped errors`].join(', ')}`,
    ...samples.map((sample) => `  ${sample}`),
    `${total(escapes)} escapes: ${Object.entries(escapes)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', ')}`,
  ].join('\n')
}
