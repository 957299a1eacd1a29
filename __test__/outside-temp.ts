/**
 * Confinement opens the directories for temporary files to every workspace. What must lie outside of a workspace can
 * therefore not lie there, where tests make their files otherwise.
 * @module
 */
import { realpathSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const PROJECT = fileURLToPath(new URL('..', import.meta.url))
export const CACHE = join(PROJECT, '.cache')

/** The canonical forms of the directories that exist. */
function existing(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
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

/** @returns the first of the directories, in canonical form, in which only a workspace of its own opens what is made there. */
export function outsideTemporary(candidates: readonly string[]): string {
  const roots = existing(['/tmp', tmpdir()])
  const base = existing(candidates).find((path) => !roots.some((root) => isBelow(path, root)))
  if (base === undefined) throw new Error(`none of ${candidates.join(', ')} lies outside the directories for temporary files`)
  return base
}

/** @returns a directory for such files that every user may look into. */
export function openOutsideTemporary(): string {
  return outsideTemporary(['/var/tmp', CACHE, homedir()])
}
