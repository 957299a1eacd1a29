/**
 * The list of measured cases, as data. What a case does is in `operations.ts`, how it is measured in `measure.ts`.
 * @module
 */

export const KB = 1024
export const MB = 1024 * KB
export const GB = 1024 * MB

/** The default diff limit of a write is 10 MiB, exclusive. A "10 MB" file stays just below, so that the diff is part of the work. */
const TEN_MB = 10 * MB - KB

/** Lines in the last page of a `read`. */
export const LAST_PAGE_LINES = 200

/** Where a changed file lies: the project's `.cache` directory, or memory. */
export type Place = 'disk' | 'tmpfs'

/** A generated text file: `wide` is Chinese text (three bytes a character), else ASCII. `copy` tells files of equal content apart. */
export interface TextSpec {
  readonly bytes: number
  readonly wide?: boolean
  readonly copy?: number
}

/** What one call of a case does. */
export type Work =
  | { readonly kind: 'toolRead'; readonly text: TextSpec; readonly page: 'first' | 'last'; readonly parallel?: number }
  | { readonly kind: 'readText' | 'streamText' | 'readBytes' | 'stat'; readonly text: TextSpec; readonly parallel?: number }
  | { readonly kind: 'toolWrite' | 'toolEdit'; readonly bytes: number; readonly place: Place }
  | { readonly kind: 'writeText' | 'editText'; readonly bytes: number; readonly place: Place }
  | { readonly kind: 'toolCreate'; readonly bytes: number; readonly place: Place }
  | { readonly kind: 'toolRewrite'; readonly lines: number; readonly place: Place }
  | { readonly kind: 'listDir'; readonly entries: number }
  | { readonly kind: 'start' }

export interface BenchCase {
  /** Unique; what `--only` matches. */
  readonly id: string
  /** Heading in the table and the chart. */
  readonly group: string
  readonly work: Work
  /** Part of `--quick`. */
  readonly quick: boolean
  /** Too slow on one side for rounds: one first call in a fresh process is all there is. */
  readonly once: boolean
}

function add(list: BenchCase[], group: string, id: string, work: Work, flags: { quick?: boolean; once?: boolean } = {}): void {
  list.push({ id, group, work, quick: flags.quick ?? false, once: flags.once ?? false })
}

function readCases(list: BenchCase[]): void {
  const group = 'read tool'
  const quick = true
  add(list, group, 'read 1 KB', { kind: 'toolRead', text: { bytes: KB }, page: 'first' }, { quick })
  add(list, group, 'read 50 KB, 1,056 lines', { kind: 'toolRead', text: { bytes: 50 * KB }, page: 'first' }, { quick })
  add(list, group, 'read 50 KB, last page', { kind: 'toolRead', text: { bytes: 50 * KB }, page: 'last' })
  const sizes: readonly (readonly [string, number])[] = [
    ['1 MB', MB],
    ['9 MB', 9 * MB],
    ['100 MB', 100 * MB],
    ['1 GB', GB],
  ]
  for (const [name, bytes] of sizes) {
    for (const page of ['first', 'last'] as const) {
      add(list, group, `read ${name}, ${page} page`, { kind: 'toolRead', text: { bytes }, page }, { quick: bytes === MB })
    }
  }
  add(list, group, 'read 1 KB, 64 at once', { kind: 'toolRead', text: { bytes: KB }, page: 'first', parallel: 64 })
  add(list, group, 'read 50 KB, 64 at once', { kind: 'toolRead', text: { bytes: 50 * KB }, page: 'first', parallel: 64 })
}

function providerReadCases(list: BenchCase[]): void {
  const group = 'ctx.fs, reading'
  const quick = true
  add(list, group, 'resolve + stat', { kind: 'stat', text: { bytes: KB } }, { quick })
  add(list, group, 'readText 1 KB', { kind: 'readText', text: { bytes: KB } }, { quick })
  add(list, group, 'readText 50 KB', { kind: 'readText', text: { bytes: 50 * KB } })
  add(list, group, 'readText 1 MB', { kind: 'readText', text: { bytes: MB } }, { quick })
  add(list, group, 'readText 9 MB', { kind: 'readText', text: { bytes: 9 * MB } })
  add(list, group, 'readText 9 MB, Chinese', { kind: 'readText', text: { bytes: 9 * MB, wide: true } })
  add(list, group, 'readText 100 MB', { kind: 'readText', text: { bytes: 100 * MB } })
  add(list, group, 'streamText 1 KB', { kind: 'streamText', text: { bytes: KB } })
  add(list, group, 'streamText 1 MB', { kind: 'streamText', text: { bytes: MB } }, { quick })
  add(list, group, 'streamText 100 MB', { kind: 'streamText', text: { bytes: 100 * MB } })
  add(list, group, 'streamText 100 MB, Chinese', { kind: 'streamText', text: { bytes: 100 * MB, wide: true } })
  add(list, group, 'streamText 1 GB', { kind: 'streamText', text: { bytes: GB } })
  add(list, group, 'readBytes 1 MB', { kind: 'readBytes', text: { bytes: MB } })
  add(list, group, 'readText 1 KB, 64 at once', { kind: 'readText', text: { bytes: KB }, parallel: 64 })
  add(list, group, 'readText 50 KB, 64 at once', { kind: 'readText', text: { bytes: 50 * KB }, parallel: 64 })
  add(list, group, 'listDir 10,000 entries', { kind: 'listDir', entries: 10_000 })
}

function changeCases(list: BenchCase[]): void {
  const sizes: readonly (readonly [string, number])[] = [
    ['1 KB', KB],
    ['1 MB', MB],
    ['10 MB', TEN_MB],
  ]
  const kinds = [
    ['write and edit tools', 'write', 'toolWrite'],
    ['write and edit tools', 'edit', 'toolEdit'],
    ['ctx.fs, changing', 'writeText', 'writeText'],
    ['ctx.fs, changing', 'editText', 'editText'],
  ] as const
  for (const [group, name, kind] of kinds) {
    for (const [size, bytes] of sizes) {
      for (const place of ['tmpfs', 'disk'] as const) {
        add(
          list,
          group,
          `${name} ${size}, ${place}`,
          { kind, bytes, place },
          { quick: bytes === KB || (bytes === MB && place === 'tmpfs') },
        )
      }
    }
    if (kind === 'toolEdit') {
      add(list, group, 'write new file 1 KB, tmpfs', { kind: 'toolCreate', bytes: KB, place: 'tmpfs' })
      add(list, group, 'write 10,000 lines, all different', { kind: 'toolRewrite', lines: 10_000, place: 'tmpfs' }, { once: true })
    }
  }
}

/** All cases, in the order of the table. */
export function allCases(): BenchCase[] {
  const list: BenchCase[] = []
  readCases(list)
  changeCases(list)
  providerReadCases(list)
  add(list, 'start', 'import, mount and first read', { kind: 'start' }, { quick: true })
  const order = ['read tool', 'write and edit tools', 'ctx.fs, reading', 'ctx.fs, changing', 'start']
  return list.sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group))
}
