/** What is compared: the published originals, ours, and mixtures in which one part at a time is ours. */
import * as originalProvider from '@deepseek-ai/dsh-fs-local'
import * as originalPolicy from '@deepseek-ai/dsh-fs-observation-policy'
import { SandboxedFileSystem } from '@deepseek-ai/dsh-fs-sandbox'
import * as originalTools from '@deepseek-ai/dsh-tool-fs'
import { PROVIDER_RULES, type RuleName, TOOL_RULES } from './case.ts'
import type { Match } from './play.ts'
import type { Parts, PluginPart } from './world.ts'

/** The published originals, with or without a watched provider. */
export function originals(watched: boolean): Parts {
  const provider = originalProvider.LocalFileSystem as PluginPart
  return { provider, confined: SandboxedFileSystem as PluginPart, tools: originalTools, policy: originalPolicy, watched }
}

/** A comparison against the originals in which some parts are replaced. No difference is allowed unless named. */
export function matchOf(name: string, replaced: Partial<Omit<Parts, 'watched'>>, watched: boolean, rules: readonly RuleName[] = []): Match {
  return { name, left: originals(watched), right: { ...originals(watched), ...replaced }, rules: new Set(rules) }
}

/** @returns ours, as a loader gets them: from the package's exports. */
async function loadOurs(): Promise<Omit<Parts, 'watched'>> {
  // A name put together at run time, so that the originals can be compared without a built package.
  const load = async (part: string): Promise<PluginPart> => {
    const loaded = await import(['dsh-fs-native', part].join('/'))
    return loaded.default ?? loaded
  }
  return { provider: await load('provider'), confined: await load('sandbox'), tools: await load('tools'), policy: await load('policy') }
}

/** @returns every composition with a part of ours, each with the rules of the parts that are ours. */
export async function ourMatches(): Promise<Match[]> {
  const { provider, confined, tools, policy } = await loadOurs()
  const ours = { provider, confined, tools, policy }
  const all = [...PROVIDER_RULES, ...TOOL_RULES]
  return [
    matchOf('all ours', ours, false, all),
    matchOf('all ours, provider overridden', ours, true, all),
    matchOf('our tools', { tools }, true, TOOL_RULES),
    matchOf('our provider', { provider, confined }, true, PROVIDER_RULES),
    matchOf('all ours again', ours, false, all),
    matchOf('our policy', { policy }, true),
  ]
}
