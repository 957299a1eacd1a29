/** The package as a bundle of the harness: adding and removing it, its rows, and what the user sets on the original rows. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Context, loadedAddons, SET_UP_MS } from './context.ts'
import { PROJECT } from './place.ts'
import type { Profile } from './profile.ts'

const PACKAGE = 'dsh-fs-native'
const NO_LAYER = '[]\n'
const ORIGINAL_ROWS = ['fs-sandbox', 'tool-fs', 'fs-observation-policy']

/** The block of one row in a dump of the composed rows. */
function row(dump: string, id: string): string | undefined {
  return dump.split(/^(?=- id: )/m).find((block) => block.startsWith(`- id: ${id}\n`))
}

function testHeadless(context: Context): void {
  let profile: Profile
  let shipped: Profile

  beforeAll(async () => {
    shipped = await context.shippedProfile('bundle-shipped')
    profile = await context.nativeProfile('bundle-native')
  }, SET_UP_MS)

  test('adding it makes it the last layer of the profile and nothing else', async () => {
    expect(profile.bundles()).toEqual([...shipped.bundles(), PACKAGE])
    expect(profile.holds(PACKAGE)).toBe(true)
  })

  test('its peers are those of the installation', async () => {
    // The harness links its own packages beside the profiles when it composes one.
    await profile.dump()
    const { peerDependencies } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
      peerDependencies: Record<string, string>
    }
    for (const peer of Object.keys(peerDependencies)) {
      // A second copy in the profile would have its own error classes.
      expect({ peer, held: profile.holds(peer) }).toEqual({ peer, held: false })
      expect(profile.foundAt(peer)).toContain(context.installation.directory)
    }
  })

  test('it swaps the rows of the provider, the tools and the policy', async () => {
    const dump = await profile.dump()
    for (const id of ORIGINAL_ROWS) expect(row(dump, id)).toContain("disabled: !!js '''replaced by dsh-fs-native'''")
    expect(row(dump, 'fs-native-tools')).toContain('name: dsh-fs-native/tools')
    expect(row(dump, 'fs-native-policy')).toContain('name: dsh-fs-native/policy')
    expect(row(dump, 'fs-native-sandbox')).toContain('name: dsh-fs-native/sandbox')
  })

  test('what the user sets on the original row reaches ours, expressions evaluated', async () => {
    profile.patch('- id: tool-fs\n  config:\n    readLimit: !!js 3 + 4\n    readMaxLineLength: 80\n')
    const read = (await context.offeredTools(profile)).get('read')
    expect(loadedAddons(profile)).not.toEqual([])
    expect(read?.function.parameters).toMatchObject({ properties: { limit: { description: expect.stringContaining('Defaults to 7.') } } })
  })

  test('the same holds for the provider', async () => {
    profile.patch('- id: fs-sandbox\n  config:\n    diffBasisMaxBytes: !!js 1 - 1\n')
    const outcome = await profile.start(context.workspaces, 'http://127.0.0.1:9', ['Say hello.'], 60_000)
    expect(outcome.stderr).toContain('diffBasisMaxBytes must be a positive safe integer')
    expect(outcome.code).not.toBe(0)
  })

  test('a user who switches the original row off gets no file tools', async () => {
    profile.patch('- id: tool-fs\n  disabled: true\n')
    const tools = await context.offeredTools(profile)
    expect(['read', 'write', 'edit', 'grep'].filter((name) => tools.has(name))).toEqual(['grep'])
  })

  test('a user who switches the original rows on gets the originals', async () => {
    profile.patch(ORIGINAL_ROWS.map((id) => `- id: ${id}\n  disabled: false\n`).join(''))
    const before = loadedAddons(profile).length
    expect(await context.offeredTools(profile)).toEqual(await context.offeredTools(shipped))
    expect(loadedAddons(profile).length).toBe(before)
  })

  test('removing it restores the profile', async () => {
    profile.patch(NO_LAYER)
    await profile.plugin('remove', PACKAGE)
    expect(profile.bundles()).toEqual(shipped.bundles())
    expect(profile.holds(PACKAGE)).toBe(false)
    expect(await profile.dump()).toBe(await shipped.dump())
    expect(await context.offeredTools(profile)).toEqual(await context.offeredTools(shipped))
  })
}

interface Probe {
  rows: Record<string, boolean>
  shared: string[]
  presets: Record<string, string[]>
}

/** A preset of the user's: the shipped standard one with our tools in the place of the original's. */
function addPreset(context: Context, profile: Profile, id: string): void {
  const shipped = join(context.installation.directory, 'node_modules/@deepseek-ai/dsh/config/agent-presets/standard/agent.cordis.yml')
  const text = readFileSync(shipped, 'utf8')
  const changed = text.replace("name: '@deepseek-ai/dsh-tool-fs'\n", 'name: dsh-fs-native/tools\n')
  expect(changed).not.toBe(text)
  const directory = join(profile.home, '.agent-presets', id)
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'agent.cordis.yml'), changed)
}

async function probeWeb(context: Context, profile: Profile): Promise<Probe> {
  copyFileSync(fileURLToPath(new URL('./web-probe.mjs', import.meta.url)), join(profile.directory, 'web-probe.mjs'))
  profile.patch('- insert:\n    - id: probe\n      name: ./web-probe.mjs\n')
  const outcome = await profile.start(context.workspaces, 'http://127.0.0.1:9', ['--host', '127.0.0.1', '--port', '0', '--no-open'], 60_000)
  expect(outcome).toMatchObject({ code: 0, stderr: '' })
  const probe = JSON.parse(readFileSync(join(profile.directory, 'probe.json'), 'utf8')) as Probe & { error?: string }
  expect(probe.error).toBeUndefined()
  return probe
}

/** Registers the bundle's test groups. */
export function testBundle(context: Context): void {
  describe('the bundle in the headless profile', () => testHeadless(context))

  describe('the bundle in the web profile, where agent presets mount the tools', () => {
    test('the shipped presets keep their tools, and a preset of the user can name ours', async () => {
      const profile = await context.nativeProfile('web', 'web')
      addPreset(context, profile, 'native')
      const { rows, shared, presets } = await probeWeb(context, profile)
      expect(rows).toEqual({
        'fs-sandbox': false,
        'tool-fs': false,
        'fs-observation-policy': false,
        'fs-native-sandbox': true,
        'fs-native-tools': false,
        'fs-native-policy': true,
      })
      expect(shared).toEqual([])
      const { standard, native } = presets
      expect(standard).toEqual(expect.arrayContaining(['read', 'write', 'edit', 'read_image']))
      expect(new Set(native)).toEqual(new Set(standard?.filter((name) => name !== 'read_image')))
      expect(loadedAddons(profile)).toEqual([expect.stringContaining(profile.directory)])
      const { connections, lookups, datagrams } = profile.traces()
      expect({ connections, lookups, datagrams }).toEqual({ connections: [], lookups: [], datagrams: [] })
    })
  })
}
