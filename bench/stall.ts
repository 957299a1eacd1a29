/**
 * How long the event loop was held up.
 * @module
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** The probe is a timer of this period, in milliseconds; a stall is known to within one period. */
const PERIOD = 1

/** Time for the probe to tick before and after what is watched, in milliseconds. */
const SETTLE = 8

/** The probe's timer counts in native code, so it makes no garbage and leaves the cores to the work. */
const probe = monitorEventLoopDelay({ resolution: PERIOD })

/**
 * Runs `work` and gives its duration and the longest time the event loop stood still meanwhile, in milliseconds.
 * What `work` throws passes through.
 */
export async function watchStall(work: () => Promise<void>): Promise<{ duration: number; stall: number }> {
  probe.enable()
  try {
    // The first interval is counted from the first tick, so the probe must have ticked before the work begins.
    await sleep(SETTLE)
    probe.reset()
    await sleep(PERIOD + 1)
    const start = performance.now()
    await work()
    const duration = performance.now() - start
    await sleep(SETTLE)
    return { duration, stall: Math.max(0, probe.max / 1e6 - PERIOD) }
  } finally {
    probe.disable()
  }
}
