/**
 * The tools `read`, `write` and `edit` over whatever filesystem is mounted. Contract: tools, plugin shape.
 *
 * The plugin knows the harness: definitions, prompt sections, cards, sandbox escalation. What a tool does with a file is
 * the addon's, and the module of each tool only binds the two together.
 */
import type { Context } from '@deepseek-ai/cordis'
import type {} from '@deepseek-ai/dsh-fs'
import type {} from '@deepseek-ai/dsh-system-prompt'
import type {} from '@deepseek-ai/dsh-tools'
import { Config, checkConfig } from './config.ts'
import { applyEdit } from './edit.ts'
import { applyRead } from './read.ts'
import { sandboxController } from './sandbox.ts'
import { applyWrite } from './write.ts'

export { Config }

/** Name under which the loader reports the plugin. */
export const name = 'tool-fs'

/** The plugin is active while all of these are there; its tools go with any of them. */
export const inject = ['tools', 'fs', 'systemPrompt']

/**
 * Registers the tools in the order in which the host's own plugin does.
 *
 * @param ctx the plugin's context, which owns all registrations
 * @param config the configuration with its defaults, as `Config` returns it
 * @throws Error for a value that is not a positive integer, or for a provider that confines without a policy service
 */
export function apply(ctx: Context, config: Config): void {
  const settings = checkConfig(config)
  applyRead(ctx, settings)
  // Place of `read_image` (read-image.ts): ctx.inject(['attachments'], ...) registers it while attachments can be stored.
  const sandbox = sandboxController(ctx)
  applyWrite(ctx, sandbox)
  applyEdit(ctx, sandbox)
}
