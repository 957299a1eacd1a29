/** The `read` tool. Contract: `read`. */
import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'
import type { Primitive } from '../backing.ts'
import { executeRead, type ReadOutcome } from '../native.ts'
import { ToolCall } from './call.ts'
import type { ResolvedConfig } from './config.ts'
import { fileEnvelope, textContent } from './envelope.ts'
import { presentRead, presentReadResult, type ReadValue, readMeta } from './read-card.ts'

/** Order of the prompt section among those of all tools. */
const SECTION_ORDER = 100

const USED: readonly Primitive[] = ['resolve', 'stat', 'readText', 'streamText']

/**
 * Registers the tool and its section of the system prompt, both owned by the context.
 *
 * @param ctx the plugin's context
 * @param config the checked configuration
 */
export function applyRead(ctx: Context, config: ResolvedConfig): void {
  ctx.systemPrompt.section({
    name: 'tool:read',
    order: SECTION_ORDER,
    text: 'Use the read tool — not shell commands like cat — to inspect text files. Results include line numbers. Use offset and limit to continue reading large files.',
  })

  ctx.tools.register(
    defineTool({
      name: 'read',
      description: 'Read a UTF-8 text file and return line-numbered content.',
      parameters: {
        file_path: { type: 'string', required: true, description: 'Path to read, resolved by the filesystem backend.' },
        offset: { type: 'number', description: '1-based first line to return. Defaults to 1.' },
        limit: { type: 'number', description: `Maximum number of lines to return. Defaults to ${config.readLimit}.` },
      },
      output: {
        schema: {
          type: 'object',
          additionalProperties: false,
          properties: {
            path: { type: 'string', required: true },
            offset: { type: 'integer', required: true },
            lines: {
              type: 'array',
              required: true,
              items: {
                type: 'object',
                additionalProperties: false,
                properties: { number: { type: 'integer', required: true }, text: { type: 'string', required: true } },
              },
            },
            totalLines: { type: 'integer', required: true },
          },
        },
        render: (args, value) => textContent(renderWindow(value, args.limit ?? config.readLimit)),
        presentationMeta: (_args, value) => readMeta(value),
      },
      isConcurrencySafe: () => true,
      async execute(args, exec) {
        const call = new ToolCall(ctx, exec)
        const request = { ...config, path: args.file_path, cwd: call.cwd, offset: args.offset, limit: args.limit }
        return toValue(await call.run(USED, (provider, cancel) => executeRead(provider, request, call.hooks(), cancel)))
      },
      presentCall: presentRead,
      presentResult: (_args, result) => presentReadResult(result),
    }),
  )
}

/** Takes the lines apart that cross from the addon as one string, which is several times quicker than an array. */
function toValue({ path, offset, totalLines, lineCount, text }: ReadOutcome): ReadValue {
  // One empty line and no line at all are the same text.
  const texts = lineCount === 0 ? [] : text.split('\n')
  return { path, offset, lines: texts.map((line, index) => ({ number: offset + index, text: line })), totalLines }
}

/**
 * The text for the model: the numbered lines, then where the window stands in the file.
 *
 * @param value what `read` returned
 * @param limit the number of lines that the call allowed
 */
function renderWindow(value: ReadValue, limit: number): string {
  const numbered = value.lines.map(({ number, text }) => `${number}: ${text}`)
  const blank = numbered.length === 0 ? [] : ['']
  return fileEnvelope(value.path, [...numbered, ...blank, footer(value, limit)].join('\n'))
}

function footer({ offset, lines, totalLines }: ReadValue, limit: number): string {
  const end = lines.at(-1)?.number ?? Math.max(0, offset - 1)
  if (end >= totalLines) return `(End of file - total ${totalLines} lines)`
  // Fewer lines than allowed, and more in the file: it was the bytes that ran out.
  if (lines.length < limit) return `(Output capped. Showing lines ${offset}-${end}. Use offset=${end + 1} to continue.)`
  return `(Showing lines ${offset}-${end} of ${totalLines}. Use offset=${end + 1} to continue.)`
}
