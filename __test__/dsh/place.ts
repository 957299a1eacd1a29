/** Directories of a run: a temporary one for harness homes, and one for workspaces that confinement does not open. */
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { CACHE, outsideTemporary, PROJECT } from '../outside-temp.ts'
import { isAlive } from './processes.ts'

export { CACHE, PROJECT }

/** A directory for workspaces that lies outside of every directory that is always writable under confinement. */
export function workspaceBase(): string {
  mkdirSync(CACHE, { recursive: true })
  return outsideTemporary([CACHE, homedir()])
}

export interface Place {
  temporary: string
  workspaces: string
  remove(): void
}

const PREFIX = '.dsh-fs-native-e2e-'
const REMOVE = { recursive: true, force: true, maxRetries: 5 }

/** A new directory in a parent, whose name tells the process. Those of processes that were killed are removed first. */
export function makeDirectory(parent: string): string {
  mkdirSync(parent, { recursive: true })
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN
    if (!Number.isNaN(pid) && !isAlive(pid)) rmSync(join(parent, name), REMOVE)
  }
  return realpathSync.native(mkdtempSync(join(parent, `${PREFIX}${process.pid}-`)))
}

/** Makes both directories anew. */
export function makePlace(): Place {
  const temporary = makeDirectory(tmpdir())
  const workspaces = makeDirectory(workspaceBase())
  return {
    temporary,
    workspaces,
    remove: () => {
      for (const directory of [temporary, workspaces]) rmSync(directory, REMOVE)
    },
  }
}
