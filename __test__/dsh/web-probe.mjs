// A plugin for the web profile: writes the state of the file rows and the tools of every agent preset to probe.json beside
// it, then ends the process.
import { writeFileSync } from 'node:fs'

export const name = 'probe'
export const inject = ['agentPresets', 'tools', 'loader']

const ROWS = ['fs-sandbox', 'tool-fs', 'fs-observation-policy', 'fs-native-sandbox', 'fs-native-tools', 'fs-native-policy']

async function report(ctx) {
  await ctx.loader.await()
  const rows = {}
  for (const entry of ctx.loader.entries()) if (ROWS.includes(entry.options.id)) rows[entry.options.id] = entry.fiber !== undefined
  const presets = {}
  for (const { id } of await ctx.agentPresets.list()) {
    const scope = await ctx.agentPresets.standingKeyFor(id)
    presets[id] = ctx.tools.schemas(scope).map((schema) => schema.name)
  }
  return { rows, shared: ctx.tools.schemas().map((schema) => schema.name), presets }
}

export function apply(ctx) {
  // After this plugin's own start, which the loader would wait for.
  setTimeout(async () => {
    let result
    try {
      result = await report(ctx)
    } catch (error) {
      result = { error: String(error?.stack ?? error) }
    }
    writeFileSync(new URL('./probe.json', import.meta.url), JSON.stringify(result))
    process.exit(0)
  }, 0)
}
