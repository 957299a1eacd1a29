/** Sees what is changed in a directory that nothing may change. */
import { type BigIntStats, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What was seen, by kind; each comparison counts an entry once. */
export interface Escapes {
  /** Files, directories and links that were not there. */
  added: number
  /** Files with another content or identity. */
  changed: number
  removed: number
  /** Directories in which an entry came and went between two comparisons. */
  touched: number
}

export const total = ({ added, changed, removed, touched }: Escapes): number => added + changed + removed + touched

interface Entry {
  directory: boolean
  /** Differs if anything was done to the entry itself. */
  state: string
}

/** What `look` returns, or undefined if what it looks at has gone meanwhile. */
function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const stateOf = ({ ino, ctimeNs }: BigIntStats, content: string): string => [ino, ctimeNs, content].join(' ')

/** Adds a directory's entries, and those below, to the map by their paths. */
function collect(directory: string, into: Map<string, Entry>): void {
  for (const name of unlessGone(() => readdirSync(directory)) ?? []) {
    const path = join(directory, name)
    const entry = unlessGone((): Entry => {
      const stat = lstatSync(path, { bigint: true })
      return { directory: stat.isDirectory(), state: stateOf(stat, stat.isFile() ? readFileSync(path, 'latin1') : '') }
    })
    if (entry === undefined) continue
    into.set(path, entry)
    if (entry.directory) collect(path, into)
  }
}

function snapshot(root: string): Map<string, Entry> {
  const top = lstatSync(root, { bigint: true })
  const result = new Map([[root, { directory: true, state: stateOf(top, '') }]])
  collect(root, result)
  return result
}

/** Compares a directory with what it was, again and again. */
export class Watch {
  readonly escapes: Escapes = { added: 0, changed: 0, removed: 0, touched: 0 }
  private readonly root: string
  private seen: Map<string, Entry>

  constructor(root: string) {
    this.root = root
    this.seen = snapshot(root)
  }

  /** Counts the differences from the last comparison, or from the beginning. */
  compare(): void {
    const now = snapshot(this.root)
    for (const [path, entry] of now) {
      const before = this.seen.get(path)
      if (before === undefined) this.escapes.added++
      else if (before.state !== entry.state) this.escapes[entry.directory ? 'touched' : 'changed']++
    }
    for (const path of this.seen.keys()) if (!now.has(path)) this.escapes.removed++
    this.seen = now
  }
}
