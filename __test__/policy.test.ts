/** The observation policy beside the original, over the published provider and tools. Contract: policy. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { FsError, type FsObservation, type FsTarget, type FsVersion, type FsWriteIntent } from '@deepseek-ai/dsh-fs'
import * as original from '@deepseek-ai/dsh-fs-observation-policy'
import * as originalTools from '@deepseek-ai/dsh-tool-fs'
import { describe, expect, test } from 'vitest'
import * as ours from '../plugin/policy.ts'
import { type Agent, agentIn, callTool, mountLocal, outcome, type PolicyPlugin, runtime, temporaryDirectory } from './side-by-side.ts'

type Guard = { version: FsVersion } | undefined

const VERSION = 'v1' as FsVersion
const PRESENT: FsObservation = { kind: 'present', version: VERSION }
const ABSENT: FsObservation = { kind: 'absent' }
const targetOf = (key: string): FsTarget => ({ targetKey: key, displayPath: `shown/${key}` }) as FsTarget

/** The events as a tool sends them. */
class Events {
  readonly ctx: Context
  asked = 0

  constructor(ctx: Context) {
    this.ctx = ctx
  }

  observe(target: FsTarget, observation: FsObservation, actor?: object): void {
    this.ctx.emit('fs/observed', target, observation, actor)
  }

  writeIntent(target: FsTarget, actor?: object): Promise<FsWriteIntent | undefined> {
    return this.ctx.waterfall('fs/write-intent', target, actor, () => void this.asked++)
  }

  editIntent(target: FsTarget, actor?: object): Promise<Guard> {
    return this.ctx.waterfall('fs/edit-intent', target, actor, () => void this.asked++)
  }
}

async function mounted(plugin: PolicyPlugin): Promise<Events> {
  const ctx = await runtime()
  await ctx.plugin(plugin)
  return new Events(ctx)
}

/** Answer or refusal in plain data. */
async function answer(question: Promise<unknown>): Promise<unknown> {
  try {
    return { answer: await question }
  } catch (error) {
    if (!(error instanceof FsError)) throw error
    return { refused: error.code, message: error.message }
  }
}

test('the module has the shape that the loader knows', () => {
  expect(Object.keys(ours).sort()).toEqual(Object.keys(original).sort())
  expect(ours.name).toBe(original.name)
})

const ACTORS: Record<string, object | undefined> = {
  'an agent with a session': { agent: agentIn() },
  'an agent without a session': { agent: {} },
  'a call without an agent': {},
  'no actor': undefined,
}
const OBSERVATIONS: Record<string, FsObservation[]> = {
  nothing: [],
  absence: [ABSENT],
  presence: [PRESENT],
  'absence, then presence': [ABSENT, PRESENT],
  'presence, then absence': [PRESENT, ABSENT],
  'two versions': [PRESENT, { kind: 'present', version: 'v2' as FsVersion }],
}

describe.each(Object.entries(ACTORS))('%s', (_actor, actor) => {
  test.each(Object.entries(OBSERVATIONS))('that has seen %s', async (_seen, observations) => {
    const [theirs, mine] = await Promise.all(
      [original, ours].map(async (plugin) => {
        const events = await mounted(plugin)
        const target = targetOf('t')
        for (const observation of observations) events.observe(target, observation, actor)
        return {
          write: await answer(events.writeIntent(target, actor)),
          edit: await answer(events.editIntent(target, actor)),
          otherTarget: await answer(events.writeIntent(targetOf('u'), actor)),
          otherSession: await answer(events.writeIntent(target, { agent: agentIn() })),
          asked: events.asked,
        }
      }),
    )
    expect(mine).toEqual(theirs)
    // The comparison must not be one of two policies that never answer.
    expect(mine).toMatchObject({ write: { answer: { kind: expect.any(String) } }, asked: 0 })
  })
})

test('the decisions themselves', async () => {
  const events = await mounted(ours)
  const actor = { agent: agentIn() }
  const target = targetOf('t')
  expect(await events.writeIntent(target, actor)).toEqual({ kind: 'createIfAbsent' })
  expect(await answer(events.editIntent(target, actor))).toEqual({
    refused: 'FS_NOT_OBSERVED',
    message: 'edit requires reading "shown/t" first',
  })
  events.observe(target, PRESENT, actor)
  expect(await events.writeIntent(target, actor)).toEqual({ kind: 'replaceIfVersion', version: VERSION })
  expect(await events.editIntent(target, actor)).toEqual({ version: VERSION })
  events.observe(target, ABSENT, actor)
  expect(await answer(events.editIntent(target, actor))).toEqual({ refused: 'FS_NOT_FOUND', message: 'cannot edit "shown/t": not found' })
})

test('identity is that of the session object and of the target key', async () => {
  const events = await mounted(ours)
  const agent = agentIn()
  events.observe(targetOf('t'), PRESENT, { agent })
  // Another agent object and another spelling, the same session and the same file.
  const again = { agent: { session: agent.session } }
  expect(await events.editIntent({ ...targetOf('t'), displayPath: 'elsewhere' }, again)).toEqual({ version: VERSION })
  expect(await answer(events.editIntent(targetOf('t'), { agent: { session: { ...agent.session } } }))).toMatchObject({
    refused: 'FS_NOT_OBSERVED',
  })
})

test('a refusal is a rejection, not a throw, and an observation is recorded at once', async () => {
  const events = await mounted(ours)
  const actor = { agent: agentIn() }
  const refused = events.editIntent(targetOf('t'), actor)
  expect(refused).toBeInstanceOf(Promise)
  await expect(refused).rejects.toThrow(FsError)
  events.observe(targetOf('t'), PRESENT, actor)
  const [intent] = await Promise.all([events.writeIntent(targetOf('t'), actor), events.observe(targetOf('t'), ABSENT, actor)])
  expect(intent).toEqual({ kind: 'replaceIfVersion', version: VERSION })
})

test('the first decider wins', async () => {
  const ctx = await runtime()
  await ctx.plugin(ours)
  const events = new Events(ctx)
  let late = 0
  ctx.on('fs/write-intent', async () => void late++)
  expect(await events.writeIntent(targetOf('t'))).toEqual({ kind: 'createIfAbsent' })
  ctx.on('fs/write-intent', async () => undefined, { prepend: true })
  expect(await events.writeIntent(targetOf('t'))).toBeUndefined()
  expect(late).toBe(0)
})

test('disposal removes the listeners and forgets what was seen', async () => {
  const ctx = await runtime()
  const events = new Events(ctx)
  const actor = { agent: agentIn() }
  const fiber = await ctx.plugin(ours)
  events.observe(targetOf('t'), PRESENT, actor)
  await fiber.dispose()
  expect(await events.writeIntent(targetOf('t'), actor)).toBeUndefined()
  expect(events.asked).toBe(1)
  await ctx.plugin(ours)
  expect(await events.writeIntent(targetOf('t'), actor)).toEqual({ kind: 'createIfAbsent' })
})

/** A session of tool calls with changes from outside in between. @returns what the model read. */
async function playSession(plugin: PolicyPlugin): Promise<object[]> {
  const dir = temporaryDirectory()
  const ctx = await runtime()
  await mountLocal(ctx, dir)
  await ctx.plugin(plugin)
  await ctx.plugin(originalTools, {})
  const log: object[] = []
  const agent = agentIn(dir)
  const call = async (name: string, args: object, by: { agent?: Agent } = { agent }) => {
    const { text, ...more } = outcome(await callTool(ctx, name, args, by))
    log.push({ name, text: text.replaceAll(dir, '<D>'), ...more })
  }
  const file = join(dir, 'f')
  const edit = { file_path: 'f', old_string: 'a', new_string: 'b' }
  await call('edit', edit)
  await call('read', { file_path: 'f' })
  await call('edit', edit)
  await call('write', { file_path: 'f', content: 'a' })
  await call('edit', edit)
  writeFileSync(file, 'outside: a')
  await call('edit', edit)
  await call('write', { file_path: 'f', content: 'c' })
  await call('read', { file_path: 'f' })
  await call('edit', edit)
  rmSync(file)
  await call('write', { file_path: 'f', content: 'd' })
  await call('read', { file_path: 'f' })
  await call('write', { file_path: 'f', content: 'd' })
  await call('write', { file_path: 'f', content: 'e' }, { agent: agentIn(dir) })
  await call('edit', edit, {})
  await call('write', { file_path: 'g', content: '' }, {})
  await call('write', { file_path: 'g', content: '' }, {})
  return log
}

test('a whole session reads the same', async () => {
  const mine = await playSession(ours)
  expect(mine).toEqual(await playSession(original))
  expect(new Set(mine.map((entry) => (entry as { code?: string }).code))).toEqual(
    new Set([undefined, 'FS_NOT_OBSERVED', 'FS_NOT_FOUND', 'FS_STALE_VERSION']),
  )
})
