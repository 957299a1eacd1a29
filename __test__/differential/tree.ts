/** The tree of a world: outside changes, snapshots for comparison, and a clock that versions can rely on. */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import type { Change } from './operations.ts'
import { textBytes } from './text.ts'

/** One entry of a snapshot. `links` names the other paths of the same inode. */
export interface Entry {
  type: 'file' | 'directory' | 'symlink' | 'other'
  mode: number
  bytes?: Buffer
  /** Set when the process may not read the file. */
  unreadable?: boolean
  target?: string
  links?: string[]
}

/** All entries below a root by path relative to it. */
export type Tree = Map<string, Entry>

function typeOf(stat: fs.Stats): Entry['type'] {
  if (stat.isFile()) return 'file'
  if (stat.isDirectory()) return 'directory'
  return stat.isSymbolicLink() ? 'symlink' : 'other'
}

/** @returns what `read` returns, or undefined where the process may not do that. */
function ifAllowed<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM') return undefined
    throw error
  }
}

function readEntry(file: string, root: string): Entry & { inode?: number } {
  const stat = ifAllowed(() => fs.lstatSync(file))
  if (stat === undefined) return { type: 'other', mode: 0, unreadable: true }
  const entry: Entry & { inode?: number } = { type: typeOf(stat), mode: stat.mode & 0o7777 }
  if (entry.type === 'symlink') entry.target = fs.readlinkSync(file).replaceAll(root, '<D>')
  if (entry.type === 'file') {
    const bytes = ifAllowed(() => fs.readFileSync(file))
    Object.assign(entry, bytes === undefined ? { unreadable: true } : { bytes })
    if (stat.nlink > 1) entry.inode = stat.ino
  }
  return entry
}

/** @returns everything below `root`: types, modes, bytes, link texts (root written as `<D>`) and hard links. */
export function snapshot(root: string): Tree {
  const tree: Tree = new Map()
  const inodes = new Map<number, string[]>()
  const visit = (relative: string): void => {
    const names = ifAllowed(() => fs.readdirSync(path.join(root, relative)))
    if (names === undefined) tree.get(relative)!.unreadable = true
    for (const name of names?.sort() ?? []) {
      const child = relative === '' ? name : `${relative}/${name}`
      const { inode, ...entry } = readEntry(path.join(root, child), root)
      tree.set(child, entry)
      if (inode !== undefined) inodes.set(inode, [...(inodes.get(inode) ?? []), child])
      if (entry.type === 'directory') visit(child)
    }
  }
  visit('')
  for (const paths of inodes.values()) for (const one of paths) tree.get(one)!.links = paths
  return tree
}

function entryText(entry: Entry | undefined): string {
  if (entry === undefined) return 'nothing'
  const shown = entry.bytes === undefined ? (entry.target ?? '') : JSON.stringify(entry.bytes.toString('latin1').slice(0, 300))
  return `${entry.type} ${entry.mode.toString(8)} ${shown} ${entry.links?.join('=') ?? ''}${entry.unreadable ? 'unreadable' : ''}`.trim()
}

function sameEntry(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  if (a.type !== b.type || a.mode !== b.mode || a.target !== b.target || a.unreadable !== b.unreadable) return false
  if (a.bytes !== undefined && b.bytes !== undefined ? !a.bytes.equals(b.bytes) : a.bytes !== b.bytes) return false
  return (a.links ?? []).join('\0') === (b.links ?? []).join('\0')
}

/** @returns the paths at which two trees differ, with both sides in words. */
export function treeDifferences(left: Tree, right: Tree): { path: string; left: string; right: string }[] {
  const paths = new Set([...left.keys(), ...right.keys()])
  return [...paths]
    .filter((one) => !sameEntry(left.get(one), right.get(one)))
    .map((one) => ({ path: one, left: entryText(left.get(one)), right: entryText(right.get(one)) }))
}

function isPlainFile(file: string): boolean {
  try {
    return fs.statSync(file).isFile()
  } catch {
    return false
  }
}

/** Opening anything but a regular file from outside could block (a FIFO) or change a device: refused here. */
function writableFile(file: string): string {
  if (fs.existsSync(file) && !isPlainFile(file)) throw Object.assign(new Error('not a regular file'), { code: 'NOT_A_FILE' })
  return file
}

function perform(root: string, change: Change): void {
  const at = (name: string): string => path.resolve(root, 'in/work', name.replaceAll('<D>', root))
  const file = at(change.path)
  switch (change.do) {
    case 'write':
      return fs.writeFileSync(writableFile(file), textBytes(change.text))
    case 'append':
      return fs.appendFileSync(writableFile(file), textBytes(change.text))
    case 'replace': {
      const staged = `${root}/.replacement`
      fs.writeFileSync(staged, textBytes(change.text))
      try {
        return fs.renameSync(staged, file)
      } catch (error) {
        fs.rmSync(staged)
        throw error
      }
    }
    case 'truncate':
      return fs.truncateSync(writableFile(file), change.size)
    case 'remove':
      return fs.rmSync(file, { recursive: true })
    case 'mkdir':
      return fs.mkdirSync(file)
    // Explicit times: the change time moves on, the others are the same in both worlds.
    case 'touch':
      return fs.utimesSync(file, 1_700_000_000, 1_700_000_000)
    case 'fifo':
      return void execFileSync('mkfifo', [file], { stdio: 'ignore' })
    case 'rename':
      return fs.renameSync(file, at(change.to))
    case 'symlink':
      return fs.symlinkSync(change.to.replaceAll('<D>', root), file)
    case 'link':
      return fs.linkSync(file, at(change.to))
    case 'chmod':
      return fs.chmodSync(file, change.mode)
  }
}

/** Plays one outside change. @returns `done`, or the code of the error that prevented it. */
export function applyChange(root: string, change: Change): string {
  try {
    perform(root, change)
    return 'done'
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code ?? (error as Error).name)
  }
}

/** Gives a file new content and a mode, whatever its mode was; `split` from other names of the same inode first. */
export function overwrite(file: string, bytes: Buffer, mode: number, split: boolean): void {
  if (split) fs.rmSync(file)
  else fs.chmodSync(file, 0o600)
  fs.writeFileSync(file, bytes)
  fs.chmodSync(file, mode)
}

/** Makes everything below a directory removable, then removes it. */
export function removeTree(root: string): void {
  const open = (directory: string): void => {
    fs.chmodSync(directory, 0o700)
    for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
      if (entry.isDirectory()) open(path.join(directory, entry.name))
    }
  }
  if (fs.existsSync(root)) open(root)
  fs.rmSync(root, { recursive: true, force: true })
}

/**
 * Waits until the file system's clock has moved on. Many kernels stamp files with a clock of some milliseconds;
 * two changes within one of its ticks could have equal versions in one world and different ones in the other.
 */
export class Clock {
  private readonly descriptor: number

  constructor(directory: string) {
    this.descriptor = fs.openSync(path.join(directory, 'clock'), 'w', 0o600)
  }

  /** Spins, at most a few milliseconds, until a new change gets a later time than any before. */
  tick(): void {
    const start = this.now()
    while (this.now() <= start);
  }

  private now(): bigint {
    fs.fchmodSync(this.descriptor, 0o600)
    return fs.fstatSync(this.descriptor, { bigint: true }).ctimeNs
  }

  close(): void {
    fs.closeSync(this.descriptor)
  }
}
