/** Makes directory entries of the engine's columns. Contract: provider §7. */
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { FsDirEntry, FsTarget } from '@deepseek-ai/dsh-fs'
import { createFsError } from './errors.ts'
import type { Listing } from './native.ts'

const KINDS = ['file', 'directory', 'other'] as const

/** Rows made in one turn of the event loop: about a millisecond's work. */
const TURN = 1000

/**
 * The entries of a directory in the order of the process's collation, as the original sorts them. The first child in that
 * order which could not be looked at fails the listing.
 *
 * @param directory the directory as the caller spelled it
 * @param listing the engine's columns, unsorted
 * @param signal aborts between turns
 * @returns one entry a child
 * @throws FsError of the failing child, or FS_ABORTED
 */
export async function directoryEntries(directory: FsTarget, listing: Listing, signal: AbortSignal | undefined): Promise<FsDirEntry[]> {
  if (listing.kinds.length === 0) return []
  const names = listing.names.split('\0')
  const keys = listing.keys.split('\0')
  const versions = listing.versions.split('\0')
  const failures = new Map(listing.failures.map((failure) => [failure.row, failure]))
  const base = directory.displayPath.endsWith(path.sep) ? directory.displayPath : directory.displayPath + path.sep

  const order = names.map((name, row) => ({ name, row })).sort((a, b) => a.name.localeCompare(b.name))
  const entries: FsDirEntry[] = []
  for (const { name, row } of order) {
    const failure = failures.get(row)
    if (failure) throw createFsError(failure.message, failure.code, failure.cause)
    const entry = {
      name,
      type: KINDS[listing.kinds[row] as number],
      target: { targetKey: keys[row], displayPath: base + name },
    } as FsDirEntry
    if (versions[row]) entry.version = versions[row] as NonNullable<FsDirEntry['version']>
    if (entry.type === 'file') entry.size = listing.sizes[row] as number
    entries.push(entry)
    if (entries.length % TURN === 0) {
      await setImmediate()
      if (signal?.aborted) throw createFsError('list aborted', 'FS_ABORTED')
    }
  }
  return entries
}
