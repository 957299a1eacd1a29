/** The text around a file's content, as the model reads it. Contract: texts of `read` and `write`. */
import type { ToolResult } from '@deepseek-ai/dsh-tools'

/** What a tool returns as content: one block of text. */
export function textContent(text: string): { type: 'text'; text: string }[] {
  return [{ type: 'text', text }]
}

/**
 * Wraps a body that is about one file. Nothing is escaped.
 *
 * @param path the resolved path
 * @param body one or more lines without a final newline
 */
export function fileEnvelope(path: string, body: string): string {
  return `<path>${path}</path>\n<type>file</type>\n<content>\n${body}\n</content>`
}

const ENVELOPE = /^<path>[^\n]*<\/path>\n<type>file<\/type>\n<content>\n([\s\S]*)\n<\/content>$/

/**
 * The inverse of {@link fileEnvelope}, for a result that may have been changed since.
 *
 * @returns the body, or undefined if the content is not exactly one wrapped text
 */
export function envelopeBody(content: ToolResult['content']): string | undefined {
  const [block, ...others] = content
  if (block?.type !== 'text' || others.length > 0) return undefined
  return ENVELOPE.exec(block.text)?.[1]
}
