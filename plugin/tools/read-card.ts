/** How user interfaces show a `read`: the pending card, the metadata and the finished card. Contract: `read`, presenters. */
import type { ToolCallView, ToolResult, ToolResultView } from '@deepseek-ai/dsh-tools'
import { envelopeBody, textContent } from './envelope.ts'
import { languageOf } from './language.ts'

/** A line of a file. An alias, as an interface would not count as JSON. */
type NumberedLine = { number: number; text: string }

/** The window of a file that a `read` returns. */
export interface ReadValue {
  /** The resolved path. */
  path: string
  /** 1-based number of the first line asked for. */
  offset: number
  lines: NumberedLine[]
  totalLines: number
}

/** What is kept with a result to draw its card later. */
type ReadMeta = { path: string; offset: number; lines: NumberedLine[]; totalLines: number; lang?: string }

/** Makes the metadata of a result. */
export function readMeta({ path, offset, lines, totalLines }: ReadValue): ReadMeta {
  const lang = languageOf(path)
  return { path, offset, lines, totalLines, ...(lang === undefined ? {} : { lang }) }
}

/**
 * The card of a running call. The arguments have their types but were not checked further.
 *
 * @param args the arguments of the model
 */
export function presentRead(args: { file_path: string; offset?: number; limit?: number }): ToolCallView {
  const line = args.offset ?? 1
  return {
    card: 'generic',
    title: `Read ${args.file_path}${windowLabel(args.offset, args.limit)}`,
    kind: 'read',
    locations: [{ path: args.file_path, line }],
  }
}

function windowLabel(offset: number | undefined, limit: number | undefined): string {
  const first = offset ?? 1
  if (limit !== undefined && limit > 0) return ` (${first} - ${first + limit - 1})`
  return offset === undefined ? '' : ` (from line ${first})`
}

/**
 * The card of a finished call, live or from a log.
 *
 * @param result the outcome; its metadata may come from another version of the tool
 * @returns the card, or undefined if the result does not carry what it needs
 */
export function presentReadResult(result: ToolResult): ToolResultView | undefined {
  if (result.isError || !isReadMeta(result.meta)) return undefined
  const body = envelopeBody(result.content)
  if (body === undefined) return undefined
  const { path, offset, lines, totalLines, lang } = result.meta
  return { card: 'read', path, offset, lines, totalLines, ...(lang === undefined ? {} : { lang }), content: textContent(body) }
}

function isReadMeta(meta: unknown): meta is ReadMeta {
  if (typeof meta !== 'object' || meta === null) return false
  const { path, offset, lines, totalLines, lang } = meta as Record<string, unknown>
  return (
    typeof path === 'string' &&
    isIntegerFrom(1, offset) &&
    isIntegerFrom(0, totalLines) &&
    (lang === undefined || typeof lang === 'string') &&
    Array.isArray(lines) &&
    isRisingWithin(lines, offset, totalLines)
  )
}

/** Whether these are lines whose numbers rise, from `first` at the earliest to `last` at the latest. */
function isRisingWithin(lines: readonly unknown[], first: number, last: number): boolean {
  let least = first
  return lines.every((line) => {
    if (typeof line !== 'object' || line === null) return false
    const { number, text } = line as Record<string, unknown>
    if (typeof text !== 'string' || !isIntegerFrom(least, number) || number > last) return false
    least = number + 1
    return true
  })
}

function isIntegerFrom(least: number, value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least
}
