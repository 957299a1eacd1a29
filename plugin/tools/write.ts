/** The `write` tool. Contract: `write`. */
import type { Context } from '@deepseek-ai/cordis'
import { defineTool, type FileDiff } from '@deepseek-ai/dsh-tools'
import type { Primitive } from '../backing.ts'
import { executeWrite, type ToolHooks } from '../native.ts'
import { ToolCall } from './call.ts'
import { diffsOf, fileDiffs, keepDiff } from './diffs.ts'
import { fileEnvelope, textContent } from './envelope.ts'
import { diffCall, diffResult, mutationHooks } from './mutation.ts'
import type { SandboxController } from './sandbox.ts'

/** Order of the prompt section among those of all tools. */
const SECTION_ORDER = 101

const USED: readonly Primitive[] = ['resolve', 'writeText']

/**
 * Registers the tool and its section of the system prompt, both owned by the context.
 *
 * @param ctx the plugin's context
 * @param sandbox the sandbox side of the mounted provider
 */
export function applyWrite(ctx: Context, sandbox: SandboxController): void {
  ctx.systemPrompt.section({
    name: 'tool:write',
    order: SECTION_ORDER,
    text: 'Use the write tool to create files or completely replace file contents. Existing files are overwritten, so read an existing file first (the default fs-observation-policy requires it) and prefer edit for targeted changes.',
  })

  ctx.tools.register(
    defineTool({
      name: 'write',
      description: 'Create or fully replace a UTF-8 text file.',
      parameters: {
        file_path: { type: 'string', required: true, description: 'Path to write, resolved by the filesystem backend.' },
        content: { type: 'string', required: true, description: 'Full UTF-8 text content to write.' },
        ...sandbox.fields,
      },
      output: {
        schema: {
          type: 'object',
          additionalProperties: false,
          properties: {
            path: { type: 'string', required: true },
            operation: { type: 'string', required: true, enum: ['create', 'update'] },
            before: { oneOf: [{ type: 'string' }, { type: 'null' }], required: true },
            after: { type: 'string', required: true },
          },
        },
        render: (_args, { path, operation }) => textContent(fileEnvelope(path, operation === 'create' ? 'Created file' : 'Updated file')),
        presentationMeta: (args, { before, after }) => ({ diffs: before === null ? [] : fileDiffs(args, before, after) }),
      },
      async execute(args, exec) {
        const call = new ToolCall(ctx, exec)
        const request = { path: args.file_path, cwd: call.cwd, content: args.content }
        const hooks: ToolHooks = {
          ...mutationHooks(call, sandbox.authorization('write', args, exec)),
          async writeIntent(target) {
            call.writeIntent = await ctx.waterfall('fs/write-intent', call.adopt(target), exec, () => undefined)
            return call.writeIntent
          },
        }
        const outcome = await call.run(USED, (provider, cancel) => executeWrite(provider, request, hooks, cancel))
        const { path, operation, before, after, hunks } = outcome
        if (before !== null) keepDiff(exec, args, { before, after, hunks })
        return { path, operation, before, after }
      },
      presentCall: (args) => diffCall(title(args), whole(args)),
      presentResult: (args, result) => (result.isError ? undefined : diffResult(title(args), diffsOf(result) ?? [whole(args)])),
    }),
  )
}

interface WriteArgs {
  file_path: string
  content: string
}

function title(args: WriteArgs): string {
  return `Write ${args.file_path}`
}

/** The call as a diff from nothing: all that can be shown before it ran, and where nothing else was kept. */
function whole(args: WriteArgs): FileDiff {
  return { path: args.file_path, oldText: null, newText: args.content }
}
