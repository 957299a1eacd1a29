/**
 * What the decisions prescribe, worked out plainly and independently of either implementation:
 * an edit that changes only the matched bytes (D11, D13), a read window with whole characters and
 * an honest marker (D14), and what makes diff hunks valid (D21).
 */

const NUL_WINDOW = 8192
const BOM_LENGTH = 3

/** The text of a file as matching sees it, and where each of its units lies in the bytes. */
interface Matchable {
  text: string
  /** Byte offset of each unit of `text`, and of the end. */
  offsets: number[]
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function matchable(bytes: Buffer, decoded: string): Matchable {
  const units: string[] = []
  const offsets: number[] = []
  let offset = bytes.subarray(0, BOM_LENGTH).toString('hex') === 'efbbbf' ? BOM_LENGTH : 0
  for (let i = 0; i < decoded.length; ) {
    const crlf = decoded[i] === '\r' && decoded[i + 1] === '\n'
    const character = crlf ? '\r\n' : String.fromCodePoint(decoded.codePointAt(i)!)
    const shown = crlf ? '\n' : character
    for (const unit of shown.split('')) {
      units.push(unit)
      offsets.push(offset)
    }
    offset += Buffer.byteLength(character)
    i += character.length
  }
  offsets.push(offset)
  return { text: units.join(''), offsets }
}

function occurrences(text: string, needle: string): number[] {
  const found: number[] = []
  for (let from = text.indexOf(needle); from !== -1; from = text.indexOf(needle, from + needle.length)) found.push(from)
  return found
}

type Break = 'lf' | 'crlf'

function breaksIn(bytes: Buffer): Set<Break> {
  const text = bytes.toString('latin1')
  const found = new Set<Break>()
  for (const [one] of text.matchAll(/\r?\n/g)) found.add(one === '\n' ? 'lf' : 'crlf')
  return found
}

/** The style of the line break nearest to a match; both styles where two are equally near. */
function nearestBreaks(bytes: Buffer, start: number, end: number): Set<Break> {
  const before = bytes.lastIndexOf('\n', start - 1)
  const after = bytes.indexOf('\n', end)
  const found = new Map<number, Break[]>()
  const note = (style: Break, distance: number) => found.set(distance, [...(found.get(distance) ?? []), style])
  if (start > 0 && before !== -1) note(bytes[before - 1] === 0x0d ? 'crlf' : 'lf', start - (before + 1))
  if (after !== -1) {
    const crlf = after > end && bytes[after - 1] === 0x0d
    note(crlf ? 'crlf' : 'lf', after - (crlf ? 1 : 0) - end)
  }
  if (found.size === 0) return new Set(['lf'])
  return new Set(found.get(Math.min(...found.keys())))
}

/** The matched stretches of the old bytes with the line break styles allowed in what replaces each. */
interface Stretch {
  start: number
  end: number
  allowed: Set<Break>
}

/** Reads one replacement from `bytes`. @returns where it ends, or what is wrong with it. */
function readReplacement(bytes: Buffer, from: number, replacement: string, allowed: Set<Break>): number | string {
  let at = from
  const lines = replacement.split('\n')
  for (const [index, line] of lines.entries()) {
    if (index > 0) {
      const style: Break = bytes[at] === 0x0d && bytes[at + 1] === 0x0a ? 'crlf' : 'lf'
      if (!allowed.has(style)) return `a line break of the new text is ${style}, allowed: ${[...allowed].join(', ')}`
      at += style === 'crlf' ? 2 : 1
      if (bytes[at - 1] !== 0x0a) return `no line break at byte ${at}`
    }
    const wanted = Buffer.from(line, 'utf8')
    if (!bytes.subarray(at, at + wanted.length).equals(wanted)) return `the new text is not at byte ${at}`
    at += wanted.length
  }
  return at
}

/** The result an edit must have, or the error it must end with. */
export type EditExpectation =
  | { error: { code: string; message: string } }
  | { before: string; after: string; check(bytes: Buffer): string | undefined }

/**
 * @param bytes of the file before the edit.
 * @param shownPath the path as messages name it.
 */
export function expectEdit(bytes: Buffer, shownPath: string, oldString: string, newString: string, replaceAll: boolean): EditExpectation {
  const fail = (code: string, message: string): EditExpectation => ({ error: { code, message } })
  if (bytes.subarray(0, NUL_WINDOW).includes(0)) return fail('FS_NOT_TEXT', `cannot edit "${shownPath}": binary file`)
  const decoded = decode(bytes)
  if (decoded === undefined) return fail('FS_NOT_TEXT', `cannot edit "${shownPath}": invalid UTF-8 text`)
  const { text, offsets } = matchable(bytes, decoded)
  const needle = oldString.replaceAll('\r\n', '\n')
  const replacement = newString.replaceAll('\r\n', '\n')
  if (needle === '') return fail('FS_EDIT_NOT_FOUND', 'old_string must be a non-empty string')
  const found = occurrences(text, needle)
  if (found.length === 0) return fail('FS_EDIT_NOT_FOUND', `old_string was not found in "${shownPath}"`)
  if (found.length > 1 && !replaceAll) {
    return fail(
      'FS_AMBIGUOUS_EDIT',
      `old_string matched ${found.length} times in "${shownPath}"; provide a more specific old_string or set replace_all to true`,
    )
  }
  const stretches = found.map((index): Stretch => {
    const start = offsets[index]!
    const end = offsets[index + needle.length]!
    const own = breaksIn(bytes.subarray(start, end))
    return { start, end, allowed: own.size > 0 ? own : nearestBreaks(bytes, start, end) }
  })
  const check = (result: Buffer): string | undefined => {
    let old = 0
    let at = 0
    for (const { start, end, allowed } of [...stretches, { start: bytes.length, end: bytes.length, allowed: new Set<Break>() }]) {
      const kept = bytes.subarray(old, start)
      if (!result.subarray(at, at + kept.length).equals(kept)) return `bytes ${old} to ${start} outside the match changed`
      at += kept.length
      old = end
      if (start === bytes.length) break
      const next = readReplacement(result, at, replacement, allowed)
      if (typeof next === 'string') return next
      at = next
    }
    return at === result.length ? undefined : `${result.length - at} bytes too many at the end`
  }
  return { before: text, after: text.split(needle).join(replacement), check }
}

export interface WindowLimits {
  lines: number
  lineLength: number
  bytes: number
}

export interface Window {
  lines: { number: number; text: string }[]
  totalLines: number
  /** The text between the envelope's content tags. */
  body: string
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00

function clipLine(line: string, limit: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  if (text.length <= limit) return text
  const keep = isHigh(text.charCodeAt(limit - 1)) ? limit - 1 : limit
  return `${text.slice(0, keep)}... (line truncated to ${limit} chars)`
}

/** @returns whether a line of the text meets one of the two cases D14 changes. */
export function hasHardCut(text: string, limit: number): boolean {
  return text.split('\n').some((line) => line.length > limit && (isHigh(line.charCodeAt(limit - 1)) || line[limit] === '\r'))
}

/** The window of a read under D14. @returns undefined where the offset is out of range. */
export function expectWindow(text: string, offset: number, limit: number, limits: WindowLimits): Window | undefined {
  const all = text.split('\n')
  if (all.at(-1) === '') all.pop()
  const lines: Window['lines'] = []
  let used = 0
  for (let number = offset; number <= all.length && lines.length < limit; number++) {
    const clipped = clipLine(all[number - 1]!, limits.lineLength)
    used += Buffer.byteLength(clipped) + (lines.length > 0 ? 1 : 0)
    if (used > limits.bytes) break
    lines.push({ number, text: clipped })
  }
  // The budget counts from the first line that could be shown; lines before the offset cost nothing.
  if (offset > all.length && !(all.length === 0 && offset === 1)) return undefined
  const end = lines.at(-1)?.number ?? Math.max(0, offset - 1)
  const range = `Showing lines ${offset}-${end}`
  const footer =
    end >= all.length
      ? `(End of file - total ${all.length} lines)`
      : lines.length < limit
        ? `(Output capped. ${range}. Use offset=${end + 1} to continue.)`
        : `(${range} of ${all.length}. Use offset=${end + 1} to continue.)`
  const numbered = lines.map((line) => `${line.number}: ${line.text}`).join('\n')
  return { lines, totalLines: all.length, body: numbered === '' ? footer : `${numbered}\n\n${footer}` }
}

export interface Hunk {
  path: string
  oldText: string | null
  newText: string
}

function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Lines that match a hunk's side at a place; a null side has none. */
function sideMatches(lines: string[], at: number, side: string[]): boolean {
  return side.every((line, index) => lines[at + index] === line)
}

function sides(text: string | null): string[][] {
  if (text === null) return [[]]
  // An empty text is either no line at all or one empty line: the hunk alone does not tell.
  return text === '' ? [[], ['']] : [text.split('\n')]
}

/**
 * D21: applied in order, the hunks turn the old text into the new one and everything between them is unchanged.
 * @returns what is wrong, or undefined.
 */
export function checkHunks(before: string, after: string, hunks: Hunk[]): string | undefined {
  if (before === after) return hunks.length === 0 ? undefined : 'hunks for equal texts'
  if (hunks.length === 0) return 'no hunk for different texts'
  if (hunks.some((hunk) => hunk.oldText === null) && before !== '') return 'oldText is null though the old text has lines'
  const oldLines = splitLines(before)
  const newLines = splitLines(after)
  const failed = new Set<string>()
  const fits = (index: number, i: number, j: number): boolean => {
    const key = `${index} ${i} ${j}`
    if (failed.has(key)) return false
    const ok = tryFrom(index, i, j)
    if (!ok) failed.add(key)
    return ok
  }
  const tryFrom = (index: number, start: number, j: number): boolean => {
    const hunk = hunks[index]
    if (hunk === undefined) {
      const rest = oldLines.length - start
      return rest === newLines.length - j && sideMatches(newLines, j, oldLines.slice(start))
    }
    for (let i = start, n = j; ; i++, n++) {
      for (const oldSide of sides(hunk.oldText)) {
        for (const newSide of sides(hunk.newText)) {
          if (
            sideMatches(oldLines, i, oldSide) &&
            sideMatches(newLines, n, newSide) &&
            fits(index + 1, i + oldSide.length, n + newSide.length)
          )
            return true
        }
      }
      if (i >= oldLines.length || oldLines[i] !== newLines[n]) return false
    }
  }
  return fits(0, 0, 0) ? undefined : 'the hunks do not turn the old text into the new one'
}
