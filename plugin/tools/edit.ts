/** The `edit` tool. Contract: `edit`. */
import type { Context } from '@deepseek-ai/cordis'
import { defineTool } from '@deepseek-ai/dsh-tools'
import type { Primitive } from '../backing.ts'
import { executeEdit, type ToolHooks } from '../native.ts'
import { ToolCall } from './call.ts'
import { diffsOf, fileDiffs, keepDiff } from './diffs.ts'
import { textContent } from './envelope.ts'
import { diffCall, diffResult, mutationHooks } from './mutation.ts'
import type { SandboxController } from './sandbox.ts'

/** Order of the prompt section among those of all tools. */
const SECTION_ORDER = 102

const USED: readonly Primitive[] = ['resolve', 'editText']

/**
 * Registers the tool and its section of the system prompt, both owned by the context.
 *
 * @param ctx the plugin's context
 * @param sandbox the sandbox side of the mounted provider
 */
export function applyEdit(ctx: Context, sandbox: SandboxController): void {
  ctx.systemPrompt.section({
    name: 'tool:edit',
    order: SECTION_ORDER,
    text: 'Use the edit tool for targeted changes to existing UTF-8 text files. It replaces literal old_string with new_string; by default old_string must appear exactly once. If old_string appears multiple times, provide a more specific old_string or set replace_all to true. Read the file first (the default fs-observation-policy requires it), unless you just created or edited it in this session.',
  })

  ctx.tools.register(
    defineTool({
      name: 'edit',
      description: 'Edit an existing UTF-8 text file by replacing literal text.',
      parameters: {
        file_path: { type: 'string', required: true, description: 'Path to edit, resolved by the filesystem backend.' },
        old_string: { type: 'string', required: true, description: 'Literal text to replace. Must match exactly.' },
        new_string: {
          type: 'string',
          required: true,
          description: 'Literal replacement text. Use an empty string to delete the match.',
        },
        replace_all: {
          type: 'boolean',
          description: 'Replace all matches. Defaults to false; when false, old_string must appear exactly once.',
        },
        ...sandbox.fields,
      },
      output: {
        schema: {
          type: 'object',
          additionalProperties: false,
          properties: {
            path: { type: 'string', required: true },
            before: { type: 'string', required: true },
            after: { type: 'string', required: true },
          },
        },
        render: (args, { path }) => textContent(confirmation(path, args.replace_all === true)),
        presentationMeta: (args, { before, after }) => ({ diffs: fileDiffs(args, before, after) }),
      },
      async execute(args, exec) {
        const call = new ToolCall(ctx, exec)
        const request = {
          path: args.file_path,
          cwd: call.cwd,
          oldString: args.old_string,
          newString: args.new_string,
          replaceAll: args.replace_all ?? false,
        }
        const hooks: ToolHooks = {
          ...mutationHooks(call, sandbox.authorization('edit', args, exec)),
          async editIntent(target) {
            call.editGuard = await ctx.waterfall('fs/edit-intent', call.adopt(target), exec, () => undefined)
            return call.editGuard
          },
        }
        const outcome = await call.run(USED, (provider, cancel) => executeEdit(provider, request, hooks, cancel))
        const { path, before, after } = outcome
        keepDiff(exec, args, outcome)
        return { path, before, after }
      },
      presentCall: (args) =>
        diffCall(title(args), { path: args.file_path, oldText: args.old_string === '' ? null : args.old_string, newText: args.new_string }),
      presentResult(args, result) {
        const diffs = result.isError ? undefined : diffsOf(result)
        return diffs && diffResult(title(args), diffs)
      },
    }),
  )
}

function title(args: { file_path: string }): string {
  return `Edit ${args.file_path}`
}

function confirmation(path: string, all: boolean): string {
  return all
    ? `The file ${path} has been updated. All occurrences were successfully replaced.`
    : `The file ${path} has been updated successfully.`
}
