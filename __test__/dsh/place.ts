/** Directories of a run: a temporary one for harness homes, and one for workspaces that confinement does not open. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { CACHE } from './install.ts'

/** Everything below these is writable from any workspace under confinement. */
function temporaryRoots(): string[] {
  return ['/tmp', tmpdir()].flatMap((path) => {
    try {
      return [realpathSync.native(path)]
    } catch {
      return []
    }
  })
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

function workspaceBase(): string {
  mkdirSync(CACHE, { recursive: true })
  const roots = temporaryRoots()
  const base = [CACHE, homedir()].map((path) => realpathSync.native(path)).find((path) => !roots.some((root) => isBelow(path, root)))
  if (base === undefined) throw new Error(`neither ${CACHE} nor ${homedir()} lies outside the temporary directories`)
  return base
}

export interface Place {
  temporary: string
  workspaces: string
  remove(): void
}

/** Makes both directories anew. */
export function makePlace(): Place {
  const temporary = realpathSync.native(mkdtempSync(join(tmpdir(), 'dsh-fs-native-')))
  const workspaces = mkdtempSync(join(workspaceBase(), '.dsh-fs-native-test-'))
  const options = { recursive: true, force: true, maxRetries: 5 }
  return {
    temporary,
    workspaces,
    remove: () => {
      rmSync(temporary, options)
      rmSync(workspaces, options)
    },
  }
}
