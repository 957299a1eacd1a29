/**
 * The directories of a run.
 * @module
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Places } from './data.ts'
import { findTmpfs, hasRoomForBigFile } from './machine.ts'

const PREFIX = 'dsh-fs-native-bench-'

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Not permitted to signal it, but there it is.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Removes what runs that were killed left in `parent`: it may be a gigabyte of memory. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(parent, name), { recursive: true, force: true })
  }
}

function makeDirectory(parent: string): string {
  sweep(parent)
  return mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
}

/** Makes the directories of this run, and gives what removes all but the cache again. */
export function makePlaces(): { places: Places; remove: () => void } {
  const cache = fileURLToPath(new URL('../.cache/bench', import.meta.url))
  mkdirSync(cache, { recursive: true })
  const memory = findTmpfs()
  const disk = makeDirectory(cache)
  const tmpfs = memory === null ? null : makeDirectory(memory)
  const big = join(tmpfs !== null && hasRoomForBigFile(tmpfs) ? tmpfs : disk, 'big')
  const remove = (): void => {
    for (const path of tmpfs === null ? [disk] : [disk, tmpfs]) rmSync(path, { recursive: true, force: true })
  }
  return { places: { cache, big, disk, tmpfs }, remove }
}
