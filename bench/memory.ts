/**
 * Peak resident memory of this process.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'

/** A running measurement; the call gives the growth of the resident set from its start to its highest point, in bytes. */
export type PeakMemory = () => number

/** The value of a `kB` line of this process's status, in bytes. */
function status(name: string): number {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))
  if (match === null) throw new Error(`/proc/self/status has no ${name}`)
  return Number(match[1]) * 1024
}

/** Linux: the kernel's own high-water mark, set back to the present size first. */
function startLinux(): PeakMemory {
  writeFileSync('/proc/self/clear_refs', '5')
  const before = status('VmRSS')
  return () => Math.max(0, status('VmHWM') - before)
}

/** Elsewhere: the highest point since the process began, so growth below an earlier peak is not seen. */
function startPortable(): PeakMemory {
  const before = process.resourceUsage().maxRSS
  return () => (process.resourceUsage().maxRSS - before) * 1024
}

/** Collects garbage and gives the freed heap back, if the process was started with `--expose-gc`, and starts measuring. */
export function startPeakMemory(): PeakMemory {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  return process.platform === 'linux' ? startLinux() : startPortable()
}

/** Highest resident set since the process began, in bytes. */
export function peakSinceStart(): number {
  return process.resourceUsage().maxRSS * 1024
}
