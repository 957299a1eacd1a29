/**
 * The read-only part of a session on a directory of the user's: its listing and the first pages of some of its text files.
 * Only `resolve`, `listDir` and the `read` tool are used; nothing is changed.
 * @module
 */
import { readdirSync } from 'node:fs'
import type { FsDirEntry } from '@deepseek-ai/dsh-fs'
import { type Harness, startHarness } from './harness.ts'
import { Transcript } from './transcript.ts'

const SHOWN_ENTRIES = 40
const SHOWN_FILES = 3
const PAGE_LINES = 6
/** Larger files are left alone: a `read` looks at the whole file, to say how many lines it has. */
const LARGEST_BYTES = 4 * 1024 * 1024

/**
 * Plays the session.
 * @param directory - an absolute path.
 * @returns whether every outcome was as it should be.
 */
export async function playDirectory(directory: string): Promise<boolean> {
  const harness = await startHarness(directory)
  const transcript = new Transcript()
  try {
    const entries = await list(harness, transcript, directory)
    for (const file of await textFiles(harness, entries)) await readPages(harness, transcript, file)
    return transcript.end()
  } finally {
    await harness.stop()
  }
}

async function list(harness: Harness, transcript: Transcript, directory: string): Promise<FsDirEntry[]> {
  transcript.step(`List ${directory}`)
  const entries = await harness.fs.listDir(await harness.fs.resolve(directory))
  const lines = entries
    .slice(0, SHOWN_ENTRIES)
    .map((entry) => `${sizeOf(entry).padStart(12)}  ${entry.name}${entry.type === 'directory' ? '/' : ''}`)
  transcript.note([`${entries.length} entries`, ...lines].join('\n'))
  if (entries.length > SHOWN_ENTRIES) transcript.note(`${entries.length - SHOWN_ENTRIES} more are not shown`)
  transcript.check('every entry is there', entries.length === readdirSync(directory).length)
  return entries
}

function sizeOf(entry: FsDirEntry): string {
  if (entry.type === 'file') return `${entry.size ?? '?'} bytes`
  return entry.type === 'directory' ? '' : 'other'
}

/** Some regular files that `read` takes as text: those of the directory first, then those of its subdirectories. */
async function textFiles(harness: Harness, entries: readonly FsDirEntry[]): Promise<string[]> {
  const found: string[] = []
  const look = async (level: readonly FsDirEntry[]): Promise<void> => {
    for (const { type, name, size, target } of level) {
      if (found.length === SHOWN_FILES) return
      // Hidden files are passed over: some hold what should not be on a screen.
      if (type !== 'file' || name.startsWith('.') || !size || size > LARGEST_BYTES) continue
      const { isError } = await harness.call('read', { file_path: target.displayPath, limit: 1 })
      if (!isError) found.push(target.displayPath)
    }
  }
  await look(entries)
  for (const { type, name, target } of entries) {
    if (found.length === SHOWN_FILES) break
    // A subdirectory that may not be listed is passed over: there are others.
    if (type === 'directory' && !name.startsWith('.')) await look(await harness.fs.listDir(target).catch(() => []))
  }
  return found
}

async function readPages(harness: Harness, transcript: Transcript, file: string): Promise<void> {
  transcript.step(`Read ${file}`)
  const first = { file_path: file, limit: PAGE_LINES }
  const page = await harness.call('read', first)
  transcript.call('read', first, page)
  transcript.check('the first page came', !page.isError)
  if (page.text.includes(`Use offset=${PAGE_LINES + 1} to continue.`)) {
    const second = { file_path: file, offset: PAGE_LINES + 1, limit: PAGE_LINES }
    const next = await harness.call('read', second)
    transcript.call('read', second, next)
    transcript.check('the second page goes on where the first ended', !next.isError && next.text.includes(`\n${PAGE_LINES + 1}: `))
  }
}
