/**
 * One set-up at a time in one checkout: two commands started together would build into each other.
 * @module
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROOT } from './process.mjs'

const FILE = join(ROOT, '.cache', 'setup', 'lock')

/**
 * Runs `work` while no other process runs its own.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>} what `work` returned.
 */
export async function alone(work) {
  mkdirSync(join(ROOT, '.cache', 'setup'), { recursive: true })
  for (let told = false; !take(); ) {
    if (!told) console.log(`set-up   another one of this checkout is running; waiting for it (if there is none, remove ${FILE})`)
    told = true
    await sleep(300)
  }
  try {
    return await work()
  } finally {
    rmSync(FILE, { force: true })
  }
}

/** Makes the lock file, first removing that of a process which died. Returns false if a living process has it. */
function take() {
  for (;;) {
    try {
      writeFileSync(FILE, String(process.pid), { flag: 'wx' })
      return true
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
    }
    const pid = owner()
    if (pid === undefined) continue
    // An empty file belongs to a process that is just writing it, or that died there: the message says what to remove.
    if (pid === 0 || isAlive(pid)) return false
    rmSync(FILE, { force: true })
  }
}

/** The process in the lock file, 0 if there is none in it; undefined if there is no file any more. */
function owner() {
  try {
    return Number(readFileSync(FILE, 'utf8'))
  } catch {
    return undefined
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return /** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH'
  }
}
