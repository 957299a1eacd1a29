/** Edge cases of the tools under a provider that confines (contract: sandbox escalation, how the tools use it). */
import { setSandboxMode } from '@deepseek-ai/dsh-sandbox-policy'
import { expect, test } from 'vitest'
import {
  type Agent,
  type ApprovalOutcome,
  type ApprovalRequest,
  agentIn,
  type Edge,
  errorOf,
  mount,
  mountRuntime,
  Provider,
  successOf,
  toolError,
  tools,
} from './context.ts'
import { type Sandboxing, withSandbox } from './sandboxed.ts'

const withConfinedTools = (options: Sandboxing = {}): Promise<Edge> => withSandbox({ tools: true, ...options })

/** The service for approvals with a user who answers so, and what the user was asked. */
function user(outcome: ApprovalOutcome): { approval: { answer(request: ApprovalRequest): ApprovalOutcome }; asked: ApprovalRequest[] } {
  const asked: ApprovalRequest[] = []
  const answer = (request: ApprovalRequest): ApprovalOutcome => {
    asked.push(request)
    return outcome
  }
  return { approval: { answer }, asked }
}

const FULL = { sandbox_permissions: 'danger-full-access', justification: 'the task needs it' }

/** A write of `o/a`, which is outside. */
const writeOutside = (edge: Edge, more: object = {}, options: Parameters<Edge['call']>[2] = {}) =>
  edge.call('write', { file_path: edge.at('o/a'), content: 'new', ...more }, options)

const deniedUnder = (mode: string) =>
  toolError(
    'FS_SANDBOX_DENIED',
    `[sandbox: file access denied under ${mode} mode]\n[sandbox: escalation available — retry this exact operation once with sandbox_permissions (the narrowest wider mode that suffices) + justification; the approval prompt asks the user]`,
  )

test('#207 a denied write and a denied edit', async () => {
  const edge = await withConfinedTools()
  edge.file('o/e', 'old')
  expect(errorOf(await writeOutside(edge))).toEqual(deniedUnder('workspace-write'))
  const edit = { file_path: '../o/e', old_string: 'old', new_string: 'new' }
  expect(errorOf(await edge.call('edit', edit))).toEqual(deniedUnder('workspace-write'))
  expect([edge.tree(), edge.text('o/e'), edge.observed]).toEqual([['o/', 'o/e', 'w/'], 'old', []])
})

test('#208 a mode that nobody can ask for', async () => {
  const { approval, asked } = user('allowed-once')
  const edge = await withConfinedTools({ mode: 'read-only', approval })
  expect(errorOf(await writeOutside(edge, { ...FULL, sandbox_permissions: 'read-only' }))).toEqual({
    message: 'invalid arguments: "sandbox_permissions" must be one of ["workspace-write","danger-full-access"]',
    info: { name: 'ToolArgsError', code: 'INVALID_ARGS' },
  })
  expect(asked).toEqual([])
})

test('#209 the mode in force already', async () => {
  const { approval, asked } = user('allowed-once')
  const edge = await withConfinedTools({ approval })
  expect(errorOf(await writeOutside(edge, { ...FULL, sandbox_permissions: 'workspace-write' }))).toEqual({
    message: `sandbox escalation to "workspace-write" is not strictly wider than this call's current "workspace-write" mode`,
  })
  expect([asked, edge.tree()]).toEqual([[], ['o/', 'w/']])
})

test('#210 nobody to ask, and nobody who asks', async () => {
  const alone = await withConfinedTools()
  expect(errorOf(await writeOutside(alone, FULL))).toEqual({
    message: 'sandbox escalation to "danger-full-access" requires approval, but no approval service is composed',
  })
  const { approval, asked } = user('allowed-once')
  const edge = await withConfinedTools({ approval })
  expect(errorOf(await writeOutside(edge, FULL, { agent: undefined }))).toEqual({
    message: 'sandbox escalation to "danger-full-access" requires approval, but the call has no agent to route it through',
  })
  expect([asked, alone.tree(), edge.tree()]).toEqual([[], ['o/', 'w/'], ['o/', 'w/']])
})

for (const [name, outcome, message] of [
  ['#211 the user rejects', 'rejected', 'the user rejected escalating this operation to "danger-full-access"'],
  ['#212 the user cancels', 'cancelled', 'approval for escalating to "danger-full-access" was cancelled'],
] as const) {
  test(name, async () => {
    const { approval, asked } = user(outcome)
    const edge = await withConfinedTools({ approval })
    expect(errorOf(await writeOutside(edge, FULL))).toEqual({ message })
    expect([asked.length, edge.tree(), edge.observed]).toEqual([1, ['o/', 'w/'], []])
  })
}

test('#213 no channel to the user', async () => {
  const edge = await withConfinedTools({ approval: {} })
  expect(errorOf(await writeOutside(edge, FULL))).toEqual({
    message: 'sandbox escalation to "danger-full-access" requires approval, but no approval channel is available',
  })
  expect(edge.tree()).toEqual(['o/', 'w/'])
})

test('#214 the user allows one call', async () => {
  const { approval, asked } = user('allowed-once')
  const edge = await withConfinedTools({ approval })
  const agent = agentIn(edge.at('w'))
  const { signal } = new AbortController()
  expect(successOf(await writeOutside(edge, FULL, { agent, signal }))).toMatchObject({ path: edge.at('o/a'), operation: 'create' })
  expect(asked).toEqual([
    {
      agent,
      toolName: 'write',
      callId: expect.stringMatching(/^call-\d+$/),
      reason: 'escalate sandbox to danger-full-access: the task needs it',
      signal: expect.any(AbortSignal),
    },
  ])
  expect(asked[0]!.agent).toBe(agent)
  expect(errorOf(await writeOutside(edge, { content: 'newer' }, { agent }))).toEqual(deniedUnder('workspace-write'))
  expect(edge.text('o/a')).toBe('new')
})

test('#214 an edit that the user allows', async () => {
  const { approval, asked } = user('allowed-once')
  const edge = await withConfinedTools({ mode: 'read-only', approval })
  edge.file('w/e', 'old')
  const edit = { file_path: 'e', old_string: 'old', new_string: 'new', sandbox_permissions: 'workspace-write', justification: 'it is mine' }
  successOf(await edge.call('edit', edit))
  expect(asked[0]).toMatchObject({ toolName: 'edit', reason: 'escalate sandbox to workspace-write: it is mine' })
  // What was allowed is the workspace, not what lies outside of it.
  expect(errorOf(await edge.call('write', { ...edit, file_path: '../o/a', content: 'new' }))).toEqual(deniedUnder('workspace-write'))
  expect([edge.text('w/e'), edge.tree()]).toEqual(['new', ['o/', 'w/', 'w/e']])
})

test("#215 the last mode in the session's log", async () => {
  const edge = await withConfinedTools()
  const agent = agentIn(edge.at('w'))
  setSandboxMode(agent.session, 'read-only')
  expect(errorOf(await edge.call('write', { file_path: 'a', content: 'new' }, { agent }))).toEqual(deniedUnder('read-only'))
  setSandboxMode(agent.session, 'danger-full-access')
  successOf(await writeOutside(edge, {}, { agent }))
  expect(edge.tree()).toEqual(['o/', 'o/a', 'w/'])
})

test("#216 the session's working directory is its workspace", async () => {
  const edge = await withConfinedTools()
  const agent = agentIn(edge.at('o'))
  expect(successOf(await edge.call('write', { file_path: 'a', content: 'new' }, { agent }))).toMatchObject({ path: edge.at('o/a') })
  expect(errorOf(await edge.call('write', { file_path: edge.at('w/a'), content: 'new' }, { agent }))).toEqual(
    deniedUnder('workspace-write'),
  )
  expect(edge.tree()).toEqual(['o/', 'o/a', 'w/'])
})

test("#217 a link as the session's working directory", async () => {
  const edge = await withConfinedTools()
  const agent = agentIn(edge.link('wl', 'w'))
  expect(successOf(await edge.call('write', { file_path: 'a', content: 'new' }, { agent }))).toMatchObject({ path: edge.at('w/a') })
  expect(successOf(await edge.call('read', { file_path: 'a' }, { agent }))).toMatchObject({ path: edge.at('wl/a') })
  expect(edge.observed.map(({ target }) => target.targetKey)).toEqual([edge.at('w/a'), edge.at('w/a')])
})

test('#218 no agent: reads start from the provider, writes from the root of the policy', async () => {
  const edge = await withConfinedTools({ cwd: 'o' })
  edge.file('o/f', 'text')
  const nobody: { agent: Agent | undefined } = { agent: undefined }
  expect(successOf(await edge.call('read', { file_path: 'f' }, nobody))).toMatchObject({ path: edge.at('o/f') })
  expect(successOf(await edge.call('write', { file_path: 'f', content: 'new' }, nobody))).toMatchObject({
    path: edge.at('w/f'),
    operation: 'create',
  })
  expect([edge.text('o/f'), edge.text('w/f')]).toEqual(['text', 'new'])
})

test('#220 a provider of somebody else that confines, without a policy service', async () => {
  class Foreign extends Provider {
    override get sandboxMode() {
      return 'workspace-write' as const
    }
  }
  const { ctx } = await mount('/', { Provider: Foreign })
  await mountRuntime(ctx)
  await expect(ctx.plugin(tools, {})).rejects.toThrow('tool-fs: the mounted filesystem confines but ctx.sandboxPolicy is missing')
  await ctx.fiber.dispose()
})
