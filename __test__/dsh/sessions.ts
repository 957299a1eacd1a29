/**
 * Sessions played twice, with the harness's own packages and with ours: what the model receives, what is logged and what
 * lies on the disk must be the same but for the named decisions.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Context, HELLO, loadedAddons, progress, SET_UP_MS } from './context.ts'
import { CHANGED, CHANGED_NATIVE, FILES, OUTSIDE } from './files.ts'
import type { ToolDefinition, Turn } from './model-server.ts'
import { type Played, play } from './play.ts'
import type { Profile } from './profile.ts'
import { expectedResult, LAST_WORDS, STEPS } from './scenario.ts'
import { SCENES } from './scenes.ts'
import { WORK } from './steps.ts'

/** Tools of the original that this package does not have yet; the test fails once it has them, so that they leave this list. */
const NOT_YET = ['read_image']
const OURS = ['read', 'write', 'edit']
const SIDES = ['original', 'native'] as const
type Side = (typeof SIDES)[number]

/** The user's layer that mounts an unconfined provider in the place of the sandboxing one. */
function unconfined(provider: string): string {
  return `- id: fs-sandbox\n  disabled: true\n- insert:\n    - id: fs-unconfined\n      name: '${provider}'\n`
}
const UNCONFINED: Record<Side, string> = { original: unconfined('@deepseek-ai/dsh-fs-local'), native: unconfined('dsh-fs-native/provider') }

const names = (tools: readonly ToolDefinition[]): string[] => tools.map((tool) => tool.function.name)

/** One string per file, in which every byte shows. */
const bytes = (content: string | Uint8Array): string => Buffer.from(content).toString('latin1')

function expectedFiles(side: Side, confined: boolean): Record<string, string> {
  const files = new Map<string, string | Uint8Array>(Object.entries({ ...FILES, ...CHANGED }))
  if (side === 'native') for (const [path, { content }] of Object.entries(CHANGED_NATIVE)) files.set(path, content)
  const result = Object.fromEntries([...files].map(([path, content]) => [`${WORK}/${path}`, bytes(content)]))
  return confined ? result : { ...result, [OUTSIDE.path]: bytes(OUTSIDE.content) }
}

function testSession(context: Context, label: string, confined: boolean): void {
  const played = {} as Record<Side, Played>
  const profiles = {} as Record<Side, Profile>

  beforeAll(async () => {
    profiles.original = await context.shippedProfile(`${label}-original`)
    profiles.native = await context.nativeProfile(`${label}-native`)
    await Promise.all(
      SIDES.map(async (side) => {
        if (!confined) profiles[side].patch(UNCONFINED[side])
        played[side] = await play(profiles[side], join(context.workspaces, `${label}-${side}`), (text) =>
          progress(`${label}, ${side}: ${text}`),
        )
      }),
    )
  }, SET_UP_MS)

  test.each(SIDES)('%s: the command plays the whole script', (side) => {
    const { outcome, server } = played[side]
    expect(outcome).toMatchObject({ code: 0, stdout: `${LAST_WORDS}\n`, stderr: '' })
    expect(server.problems).toEqual([])
    expect(server.auxiliary.length).toBeGreaterThan(0)
    const failed = SCENES.flatMap((scene, index) => (scene.failFirst ? [index] : []))
    expect(server.requests.length).toBe(SCENES.length + 1 + failed.length)
    for (const [earlier, scene] of failed.entries()) {
      expect(server.requests[scene + earlier + 1]?.messages).toEqual(server.requests[scene + earlier]?.messages)
    }
  })

  test.each(SIDES)('%s: the model receives the texts of the contract', (side) => {
    const expected = Object.fromEntries(STEPS.map((step) => [step.id, expectedResult(step, { native: side === 'native', confined })]))
    expect(Object.fromEntries(played[side].results)).toEqual(expected)
  })

  test('the model is offered the same tools', () => {
    expect(names(played.native.tools)).toEqual(names(played.original.tools).filter((name) => !NOT_YET.includes(name)))
    expect(names(played.native.tools)).toEqual(expect.arrayContaining(OURS))
    // As text: the order of properties is part of what the model sees.
    const texts = (side: Side): string[] =>
      played[side].tools.filter((tool) => !NOT_YET.includes(tool.function.name)).map((tool) => JSON.stringify(tool))
    expect(texts('native')).toEqual(texts('original'))
  })

  test('the model is given the same instructions', () => {
    expect(played.native.systemPrompt).toEqual(played.original.systemPrompt)
    for (const name of OURS) expect(played.native.systemPrompt).toContain(`Use the ${name} tool`)
  })

  test('the log holds the same results, cards and error codes', () => {
    const { original, native } = played
    for (const { logged } of [original, native]) expect(new Set(logged.keys())).toEqual(new Set(STEPS.map((step) => step.id)))
    for (const { id } of STEPS.filter((step) => step.native === undefined)) {
      expect({ id, ...native.logged.get(id) }).toEqual({ id, ...original.logged.get(id) })
    }
    expect(native.logged.get('edit-all')?.card).toMatchObject({ diffs: [{ path: 'notes.txt' }] })
    expect(native.logged.get('write-stale')?.error).toEqual({ name: 'FsError', code: 'FS_STALE_VERSION' })
  })

  test.each(SIDES)('%s: the files on disk', (side) => {
    const found = Object.fromEntries([...played[side].files].map(([path, { content }]) => [path, bytes(content)]))
    expect(found).toEqual(expectedFiles(side, confined))
  })

  test('the files have the same modes', () => {
    const modes = (side: Side) => Object.fromEntries([...played[side].files].map(([path, { mode }]) => [path, mode.toString(8)]))
    expect(modes('native')).toEqual(modes('original'))
  })

  test('our addon is loaded from the profile, and only where the package was added', () => {
    expect(loadedAddons(profiles.original)).toEqual([])
    expect(loadedAddons(profiles.native)).toEqual([expect.stringContaining(profiles.native.directory)])
  })

  test.each(SIDES)('%s: nothing but the model server is contacted', (side) => {
    const { connections, lookups, datagrams } = profiles[side].traces()
    expect([...new Set(connections)]).toEqual([new URL(played[side].server.url).host])
    expect({ lookups, datagrams }).toEqual({ lookups: [], datagrams: [] })
  })
}

/** A program that calls the three tools and returns their structured values. */
const PROGRAM = `
  const written = await tools.write({ file_path: 'code.txt', content: 'uno\\ndos\\n' });
  const page = await tools.read({ file_path: 'code.txt', offset: 2 });
  const edited = await tools.edit({ file_path: 'code.txt', old_string: 'dos', new_string: '2' });
  let refused = '';
  try { await tools.edit({ file_path: 'unseen.txt', old_string: 'a', new_string: 'b' }) } catch (error) { refused = error.message }
  return { written, page, edited, refused };`
const CODE_SCRIPT: Turn[] = [
  { title: 'program', calls: [{ id: 'program', tool: 'run_code', args: { code: PROGRAM, description: 'Files' } }] },
  HELLO,
]
/** The harness strips types with an experimental function of Node's, which would warn. */
const CODE_MODE = { DSH_TOOLS_MODE: 'code', NODE_NO_WARNINGS: '1' }
/** Without an attachment store the original has no read_image either. */
const WITHOUT_IMAGES = '- id: attachment-local\n  disabled: true\n'

async function playCode(context: Context, profile: Profile): Promise<{ prompt: unknown; result: unknown }> {
  profile.patch(WITHOUT_IMAGES)
  writeFileSync(join(context.workspaces, 'unseen.txt'), 'a\n')
  const { requests } = await context.ask(profile, CODE_SCRIPT, CODE_MODE)
  const messages = requests.at(-1)?.messages ?? []
  return { prompt: messages[0]?.content, result: messages.find((message) => message.tool_call_id === 'program')?.content }
}

/** Registers the sessions as test groups. */
export function testSessions(context: Context): void {
  describe('a session in the composition that is shipped, confined', () => testSession(context, 'confined', true))
  describe('a session over an unconfined provider', () => testSession(context, 'unconfined', false))

  describe('tools called from a program', () => {
    test('the model sees the same declarations and receives the same values', async () => {
      const profile = await context.nativeProfile('code-native')
      const native = await playCode(context, profile)
      expect(loadedAddons(profile)).not.toEqual([])
      const path = join(context.workspaces, 'code.txt')
      expect(JSON.parse(String(native.result))).toEqual({
        written: { path, operation: 'create', before: null, after: 'uno\ndos\n' },
        page: { path, offset: 2, lines: [{ number: 2, text: 'dos' }], totalLines: 2 },
        edited: { path, before: 'uno\ndos\n', after: 'uno\n2\n' },
        refused: expect.stringContaining('requires reading'),
      })
      rmSync(path)
      expect(native).toEqual(await playCode(context, await context.shippedProfile('code-original')))
    })
  })
}
