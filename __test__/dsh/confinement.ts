/**
 * Confinement in the composition that is shipped: what each mode allows and denies, with our package added and after it
 * was removed. The texts are the same, so every session is compared with the same ones.
 */
import { mkdirSync, mkdtempSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Context, HELLO, loadedAddons, SET_UP_MS } from './context.ts'
import { filesUnder, resultsOf, withoutRoot } from './play.ts'
import type { Profile } from './profile.ts'
import { turns } from './scenario.ts'
import type { Scene } from './scenes.ts'
import { created, denied, edit, edited, read, type Step, updated, WORK, whole, write } from './steps.ts'

const INSIDE = 'known.txt'
const OUTSIDE = '<root>/outside/known.txt'
const NEW_OUTSIDE = '<root>/outside/new.txt'
/** A link in the workspace to the directory outside. */
const WAY_OUT = 'way-out'
/** The files before the session; nothing may change those that the mode denies. */
const BEFORE = { [`${WORK}/${INSIDE}`]: 'inside\n', 'outside/known.txt': 'outside\n' }

interface Mode {
  name: 'read-only' | 'workspace-write' | 'danger-full-access'
  /** @param temporary a directory that is always writable. */
  scenes(temporary: string): Scene[]
  /** The files after the session that were added or changed. */
  changed: Record<string, string>
}

const ASKED = { justification: 'The test asks.' }

/** A write that asks for a wider mode. */
function escalate(id: string, mode: string, result: string): Step {
  return write(id, NEW_OUTSIDE, 'escaped\n', `Error: sandbox escalation to "${mode}" ${result}`, { sandbox_permissions: mode, ...ASKED })
}
const NOBODY = 'requires approval, but no approval channel is available'
const notWider = (mode: string): string => `is not strictly wider than this call's current "${mode}" mode`

/** Every mode lets everything be read, and what was read may be changed as far as the observation policy goes. */
const READS: Scene = {
  title: 'reading inside and outside',
  steps: [read('read-inside', INSIDE, whole(INSIDE, 'inside')), read('read-outside', OUTSIDE, whole(OUTSIDE, 'outside'))],
}

const MODES: readonly Mode[] = [
  {
    name: 'workspace-write',
    scenes: (temporary) => [
      READS,
      {
        title: 'inside',
        steps: [
          write('write-new', 'made/new.txt', 'new\n', created('made/new.txt')),
          edit('edit-known', INSIDE, ['inside', 'INSIDE'], edited(INSIDE)),
          write('write-known', INSIDE, 'written\n', updated(INSIDE)),
        ],
      },
      {
        title: 'outside',
        steps: [
          write('outside-new', NEW_OUTSIDE, 'escaped\n', denied('workspace-write')),
          write('outside-parents', '../outside/made/new.txt', 'escaped\n', denied('workspace-write')),
          write('outside-known', OUTSIDE, 'escaped\n', denied('workspace-write')),
          edit('outside-edit', OUTSIDE, ['outside', 'escaped'], denied('workspace-write')),
          write('outside-link', `${WAY_OUT}/new.txt`, 'escaped\n', denied('workspace-write')),
        ],
      },
      {
        title: 'escalation, with nobody to approve it',
        steps: [
          escalate('escalate-full', 'danger-full-access', NOBODY),
          escalate('escalate-same', 'workspace-write', notWider('workspace-write')),
        ],
      },
      {
        title: 'a temporary directory',
        steps: [
          write('temporary-new', join(temporary, 'made', 'new.txt'), 'new\n', created(join(temporary, 'made', 'new.txt'))),
          edit('temporary-edit', join(temporary, 'made', 'new.txt'), ['new', 'NEW'], edited(join(temporary, 'made', 'new.txt'))),
        ],
      },
    ],
    changed: { [`${WORK}/${INSIDE}`]: 'written\n', [`${WORK}/made/new.txt`]: 'new\n' },
  },
  {
    name: 'read-only',
    scenes: (temporary) => [
      READS,
      {
        title: 'no place is writable',
        steps: [
          write('write-new', 'made/new.txt', 'new\n', denied('read-only')),
          write('write-known', INSIDE, 'written\n', denied('read-only')),
          edit('edit-known', INSIDE, ['inside', 'INSIDE'], denied('read-only')),
          write('outside-new', NEW_OUTSIDE, 'escaped\n', denied('read-only')),
          write('temporary-new', join(temporary, 'new.txt'), 'new\n', denied('read-only')),
        ],
      },
      {
        title: 'escalation, with nobody to approve it',
        steps: [escalate('escalate-write', 'workspace-write', NOBODY), escalate('escalate-full', 'danger-full-access', NOBODY)],
      },
    ],
    changed: {},
  },
  {
    name: 'danger-full-access',
    scenes: () => [
      READS,
      {
        title: 'every place is writable',
        steps: [
          write('write-new', 'made/new.txt', 'new\n', created('made/new.txt')),
          write('outside-new', '<root>/outside/made/new.txt', 'new\n', created('<root>/outside/made/new.txt')),
          edit('outside-edit', OUTSIDE, ['outside', 'OUTSIDE'], edited(OUTSIDE)),
          escalate('escalate-same', 'danger-full-access', notWider('danger-full-access')),
        ],
      },
    ],
    changed: { [`${WORK}/made/new.txt`]: 'new\n', 'outside/made/new.txt': 'new\n', 'outside/known.txt': 'OUTSIDE\n' },
  },
]

function layOut(root: string): void {
  for (const [path, content] of Object.entries(BEFORE)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  symlinkSync(join(root, 'outside'), join(root, WORK, WAY_OUT), 'junction')
}

/** Plays a mode's scenes with one start of the command and checks what the model receives and what lies on the disk. */
async function checkMode(context: Context, profile: Profile, { name, scenes, changed }: Mode): Promise<void> {
  const root = mkdtempSync(join(context.workspaces, 'mode-'))
  const temporary = mkdtempSync(join(context.temporary, 'mode-'))
  layOut(root)
  const script = scenes(temporary)
  // The default one without being named.
  const env: Record<string, string> = name === 'workspace-write' ? {} : { DSH_PERMISSION_MODE: name }
  const { requests } = await context.ask(profile, turns(root, script, HELLO), env, join(root, WORK))
  const results = withoutRoot(Object.fromEntries(resultsOf(requests.at(-1)?.messages ?? [])), root)
  expect(results).toEqual(Object.fromEntries(script.flatMap(({ steps }) => steps).map(({ id, result }) => [id, result])))
  // Or everything outside would be seen twice.
  unlinkSync(join(root, WORK, WAY_OUT))
  expect(contents(root)).toEqual({ ...BEFORE, ...changed })
  expect(contents(temporary)).toEqual(name === 'workspace-write' ? { 'made/new.txt': 'NEW\n' } : {})
}

function contents(root: string): Record<string, string> {
  return Object.fromEntries([...filesUnder(root)].map(([path, { content }]) => [path, content.toString('utf8')]))
}

/** Registers the modes as a test group. */
export function testConfinement(context: Context): void {
  describe('confinement with no further step after adding the package', () => {
    let profile: Profile
    let shipped: Profile
    beforeAll(async () => {
      shipped = await context.shippedProfile('confinement-shipped')
      profile = await context.nativeProfile('confinement-native')
    }, SET_UP_MS)

    test.each(MODES)('$name', async (mode) => {
      const before = loadedAddons(profile).length
      await checkMode(context, profile, mode)
      expect(loadedAddons(profile).length).toBe(before + 1)
    })

    test('the original confines again after the package was removed', async () => {
      await profile.plugin('remove', 'dsh-fs-native')
      expect(await profile.dump()).toBe(await shipped.dump())
      const before = loadedAddons(profile).length
      for (const mode of MODES) await checkMode(context, profile, mode)
      expect(loadedAddons(profile).length).toBe(before)
    })
  })
}
