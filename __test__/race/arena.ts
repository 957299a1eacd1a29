/** The directories of one race: a workspace with the directory that is swapped, and the directory outside. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDirectory, workspaceBase } from '../dsh/place.ts'

/** Every known file holds this word once. */
export const MARK = 'known'
/** The files that are in both directories under the same names, at depth 1 and 3 below the swapped one. */
export const KNOWN = ['a.txt', 'b.txt', 'c.txt', 'down/there/a.txt', 'down/there/b.txt', 'down/there/c.txt']

export interface Arena {
  workspace: string
  outside: string
  remove(): void
}

function layOut(directory: string): void {
  for (const name of KNOWN) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), `${MARK}\n`)
  }
}

/** Makes both directories, where confinement opens neither by itself. */
export function makeArena(): Arena {
  const root = makeDirectory(workspaceBase())
  const [workspace, outside] = [join(root, 'workspace'), join(root, 'outside')]
  layOut(join(workspace, 'door'))
  layOut(outside)
  return { workspace, outside, remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }) }
}
