/** What the tools plugin tells the harness, beside the original: definitions, prompt, cards, texts. Contract: tools. */
import type { Context } from '@deepseek-ai/cordis'
import SandboxedFileSystem from '@deepseek-ai/dsh-fs-sandbox'
import SandboxPolicyService from '@deepseek-ai/dsh-sandbox-policy'
import * as original from '@deepseek-ai/dsh-tool-fs'
import type { ToolDefinition, ToolResult } from '@deepseek-ai/dsh-tools'
import { describe, expect, test } from 'vitest'
import * as ours from '../plugin/tools/index.ts'
import { mountLocal, rawFs, runtime, type ToolsPlugin, temporaryDirectory } from './side-by-side.ts'

const NAMES = ['read', 'write', 'edit'] as const
const MODES = ['read-only', 'workspace-write', 'danger-full-access'] as const
type Mode = (typeof MODES)[number]

/** A context with the tools over the published provider, confined if there is a mode. */
async function mounted(plugin: ToolsPlugin, config: original.Config = {}, mode?: Mode): Promise<Context> {
  const dir = temporaryDirectory()
  const ctx = await runtime()
  if (mode) {
    await ctx.plugin(SandboxPolicyService, { mode, workspaceRoot: dir })
    await ctx.plugin(SandboxedFileSystem, { cwd: dir })
  } else {
    await mountLocal(ctx, dir)
  }
  await ctx.plugin(plugin, config)
  return ctx
}

async function definitions(plugin: ToolsPlugin, config?: original.Config, mode?: Mode): Promise<ToolDefinition[]> {
  const ctx = await mounted(plugin, config, mode)
  return NAMES.map((name) => ctx.tools.get(name)!)
}

/** The same question to both plugins, tool by tool. */
async function both<T>(ask: (tool: (name: (typeof NAMES)[number]) => ToolDefinition) => T): Promise<{ mine: T; theirs: T }> {
  const [theirs, mine] = await Promise.all(
    [original, ours].map(async (plugin) => {
      const tools = await definitions(plugin)
      return ask((name) => tools[NAMES.indexOf(name)]!)
    }),
  )
  return { mine: mine!, theirs: theirs! }
}

/** The error with which a step fails, or undefined. */
async function failure(step: () => unknown): Promise<string | undefined> {
  try {
    await step()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

describe('the module', () => {
  test('has the shape that the loader knows', () => {
    expect(Object.keys(ours).sort()).toEqual(Object.keys(original).sort())
    expect([ours.name, ours.inject]).toEqual([original.name, original.inject])
  })

  test.each<unknown>([{}, undefined, { readLimit: 7 }, { readLimit: null }, { readLimit: '7' }, { readMaxBytes: true }, { other: 1 }])(
    'validates the configuration %j',
    async (config) => {
      const [theirs, mine] = [original, ours].map((plugin) => {
        try {
          return { value: plugin.Config(config as original.Config) }
        } catch (error) {
          return { message: (error as Error).message }
        }
      })
      expect(mine).toEqual(theirs)
    },
  )

  const keys = ['readLimit', 'readMaxLineLength', 'readMaxBytes', 'readStreamMinSize']
  test.each([
    ...keys.flatMap((key) => [0, -1, 1.5, Number.POSITIVE_INFINITY, Number.NaN].map((value) => ({ [key]: value }))),
    { readMaxBytes: 0, readMaxLineLength: 0 },
  ])('refuses to load with %o', async (config) => {
    const theirs = await failure(() => mounted(original, config))
    expect(theirs).toContain('must be a positive integer')
    expect(await failure(() => mounted(ours, config))).toBe(theirs)
  })

  test('refuses to load twice', async () => {
    const twice = (plugin: ToolsPlugin) => failure(async () => (await mounted(plugin)).plugin({ ...plugin }, {}))
    const theirs = await twice(original)
    expect(theirs).toMatch(/^prompt section "tool:read" is already registered/)
    expect(await twice(ours)).toBe(theirs)
  })

  test('refuses a provider that confines without a policy service', async () => {
    const load = (plugin: ToolsPlugin) =>
      failure(async () => {
        const ctx = await runtime()
        await mountLocal(ctx, temporaryDirectory())
        Object.defineProperty(rawFs(ctx), 'sandboxMode', { value: 'read-only' })
        await ctx.plugin(plugin, {})
      })
    const theirs = await load(original)
    expect(theirs).toContain('ctx.sandboxPolicy is missing')
    expect(await load(ours)).toBe(theirs)
  })

  test('registers everything while its services are there, and nothing after', async () => {
    const ctx = await mounted(ours)
    const sections = async () => (await ctx.systemPrompt.assemble()).sections.map((section) => section.name)
    expect(await sections()).toEqual(expect.arrayContaining(['tool:read', 'tool:write', 'tool:edit']))
    await [...ctx.registry.get(ours as never)!.fibers][0]!.dispose()
    expect(ctx.tools.schemas()).toEqual([])
    expect((await sections()).filter((name) => name.startsWith('tool:'))).toEqual([])
  })
})

describe.each([undefined, ...MODES])('under the sandbox mode %s', (mode) => {
  test.each<original.Config>([{}, { readLimit: 7 }])('the definitions are the same with %o', async (config) => {
    const [theirs, mine] = await Promise.all([original, ours].map((plugin) => definitions(plugin, config, mode)))
    for (const [index, name] of NAMES.entries()) {
      // As text: the model sees the order of parameters too. Functions are left out of it, and compared by name.
      expect(JSON.stringify(mine![index], null, 1)).toBe(JSON.stringify(theirs![index], null, 1))
      expect(shape(mine![index]!), name).toEqual(shape(theirs![index]!))
    }
  })

  test('the prompt and the order of registration are the same', async () => {
    const [theirs, mine] = await Promise.all(
      [original, ours].map(async (plugin) => {
        const ctx = await mounted(plugin, {}, mode)
        const { sections, tools } = await ctx.systemPrompt.assemble()
        return { sections, tools, schemas: ctx.tools.schemas().map((schema) => schema.name) }
      }),
    )
    expect(mine).toEqual(theirs)
    expect(mine!.schemas).toEqual([...NAMES])
  })
})

/** What a definition consists of, functions by their names. */
function shape(definition: ToolDefinition): object {
  const defined = (value: object) =>
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => `${key}: ${typeof member}`)
      .sort()
  return { definition: defined(definition), output: defined(definition.output) }
}

test('only valid reads may run beside each other', async () => {
  const calls = NAMES.flatMap((name) => [{}, { file_path: 'f' }, { file_path: 'f', content: '' }].map((args) => ({ name, args })))
  const { mine, theirs } = await both((tool) => calls.map(({ name, args }) => tool(name).isConcurrencySafe?.(args)))
  expect(mine).toEqual(theirs)
  expect(mine).toContain(true)
})

describe('cards of running calls', () => {
  const PATHS = ['src/main.rs', '/a b/ü', '', 'x\ny']
  const NUMBERS = [undefined, 0, 1, 8, -3, 2.5]
  const invalid = [{}, null, 'text', { file_path: 7 }, { file_path: 'f', offset: 'x' }]

  test('read', async () => {
    const args = PATHS.flatMap((file_path) =>
      NUMBERS.flatMap((offset) =>
        NUMBERS.map((limit) => ({ file_path, ...(offset === undefined ? {} : { offset }), ...(limit === undefined ? {} : { limit }) })),
      ),
    )
    const { mine, theirs } = await both((tool) => [...args, ...invalid].map((one) => tool('read').presentCall?.(one)))
    expect(mine).toEqual(theirs)
    expect(new Set(mine.map((view) => view?.card))).toEqual(new Set(['generic', undefined]))
  })

  test('write and edit', async () => {
    const writes = PATHS.map((file_path) => ({ file_path, content: `for ${file_path}\n` }))
    const edits = ['', 'old'].map((old_string) => ({ file_path: 'f', old_string, new_string: 'new', replace_all: true }))
    const { mine, theirs } = await both((tool) => [
      ...[...writes, ...invalid].map((one) => tool('write').presentCall?.(one)),
      ...[...edits, ...invalid].map((one) => tool('edit').presentCall?.(one)),
    ])
    expect(mine).toEqual(theirs)
    expect(mine).toContainEqual(expect.objectContaining({ title: 'Edit f' }))
  })
})

/** Results for the presenters: all combinations of a content, a metadata value and success. */
function results(contents: ToolResult['content'][], metas: unknown[]): ToolResult[] {
  return contents.flatMap((content) =>
    metas.flatMap((meta) => [false, true].map((isError) => ({ content, isError, ...(meta === undefined ? {} : { meta }) }) as ToolResult)),
  )
}

const text = (value: string): ToolResult['content'][number] => ({ type: 'text', text: value })

describe('cards of finished calls', () => {
  const envelope = '<path>p</path>\n<type>file</type>\n<content>\n1: a\n\n(End of file - total 1 lines)\n</content>'
  const line = { number: 3, text: 'a' }
  const meta = { path: '/d/p.rs', offset: 3, lines: [line], totalLines: 4 }

  test('read', async () => {
    const contents = [
      [text(envelope)],
      [text(envelope), text('')],
      [],
      [text(envelope.replace('file', 'image'))],
      [text(`${envelope}\n`)],
      [text(`x${envelope}`)],
      [text(envelope.replace('>p<', '>p\nq<'))],
      [text('<path></path>\n<type>file</type>\n<content>\n\n</content>')],
      [text('<path></path>\n<type>file</type>\n<content>\n</content>')],
      [text('<path>a</path>\n<type>file</type>\n<content>\n</content>\n</content>')],
      [{ type: 'image' } as never],
    ]
    const metas: unknown[] = [
      meta,
      { ...meta, lang: 'rs', more: 1 },
      { ...meta, lang: 7 },
      { ...meta, lang: null },
      ...[undefined, null, [], 'text', {}],
      ...['path', 'offset', 'lines', 'totalLines'].map((key) => ({ ...meta, [key]: undefined })),
      ...[0, 1.5, '3', -1, Number.NaN].map((offset) => ({ ...meta, offset })),
      ...[0, 3, 1.5, -1, '4'].map((totalLines) => ({ ...meta, totalLines })),
      { ...meta, lines: [], totalLines: 0 },
      ...[
        [line, { number: 4, text: 'b' }],
        [line, line],
        [{ number: 4, text: 'b' }, line],
        [{ number: 2, text: 'b' }],
        [{ number: 5, text: 'b' }],
        [{ number: 3.5, text: 'b' }],
        [{ number: 3 }],
        [{ number: 3, text: 'a', more: 1 }],
        [null],
        ['a'],
        {},
        'lines',
      ].map((lines) => ({ ...meta, lines })),
    ]
    const { mine, theirs } = await both((tool) =>
      results(contents, metas).map((result) => tool('read').presentResult?.({ file_path: 'p' }, result)),
    )
    expect(mine).toEqual(theirs)
    expect(mine.filter((view) => view !== undefined).length).toBeGreaterThan(10)
    expect(mine.filter((view) => view === undefined).length).toBeGreaterThan(100)
  })

  test('write and edit', async () => {
    const diff = { path: 'q', oldText: null, newText: 'n' }
    const metas: unknown[] = [
      ...[undefined, null, [], 'text', {}],
      ...[
        [diff],
        [],
        [diff, { ...diff, oldText: 'o', more: 1 }],
        [diff, null],
        [{ ...diff, path: 1 }],
        [{ ...diff, oldText: undefined }],
        [{ ...diff, newText: null }],
        [[]],
        {},
        'diffs',
      ].map((diffs) => ({ diffs, more: 1 })),
    ]
    const { mine, theirs } = await both((tool) =>
      results([[text('anything')], []], metas).flatMap((result) => [
        tool('write').presentResult?.({ file_path: 'f', content: 'c' }, result),
        tool('edit').presentResult?.({ file_path: 'f', old_string: 'o', new_string: 'n' }, result),
        tool('write').presentResult?.({ file_path: 'f' }, result),
      ]),
    )
    expect(mine).toEqual(theirs)
    expect(new Set(mine.map((view) => view?.card))).toEqual(new Set(['diff', undefined]))
  })
})

describe('texts and metadata', () => {
  test('of windows', async () => {
    const lines = (first: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ number: first + index, text: `l${index}` }))
    const values = [0, 1, 3, 9].flatMap((count) =>
      [1, 4].flatMap((offset) =>
        [0, offset + count - 1, 20].map((totalLines) => ({ path: '/d/p', offset, lines: lines(offset, count), totalLines })),
      ),
    )
    const args = [{}, { limit: 1 }, { limit: 3 }, { limit: 2000 }, { offset: 4 }].map((more) => ({ file_path: 'p', ...more }))
    const { mine, theirs } = await both((tool) => args.flatMap((arg) => values.map((value) => tool('read').output.render(arg, value))))
    expect(mine).toEqual(theirs)
    const all = JSON.stringify(mine)
    for (const footer of ['(End of file', '(Output capped. Showing lines 4-12', '(Showing lines 4-12 of 20.']) expect(all).toContain(footer)
  })

  test('of languages', async () => {
    const extensions =
      'ts mts cts tsx js mjs cjs jsx json jsonc py rb go rs java c h cc cpp hpp cxx cs kt swift php sh bash zsh yaml yml toml ini md markdown mdx html htm css scss less sql xml lua txt vue hasOwnProperty constructor __proto__'
    const paths = [
      ...extensions.split(' ').map((extension) => `/d/name.${extension}`),
      ...['a.CTS', '.zshrc', 'x/.rs', 'Dockerfile', 'v.min.js', 'c:\\d\\.py', 'a.b\\c', 'a.b/c', 'dir.rs/', 'x.', '..rs', '', 'a.rs '],
    ]
    const { mine, theirs } = await both((tool) =>
      paths.map((path) => tool('read').output.presentationMeta?.({ file_path: 'other.rb' }, { path, offset: 1, lines: [], totalLines: 0 })),
    )
    expect(mine).toEqual(theirs)
    expect(mine).toContainEqual(expect.objectContaining({ lang: 'kotlin' }))
  })

  test('of changes', async () => {
    const args = [{}, { replace_all: true }, { replace_all: false }].map((more) => ({
      file_path: 'raw',
      old_string: 'a',
      new_string: 'b',
      ...more,
    }))
    const { mine, theirs } = await both((tool) => [
      ...['create', 'update'].map((operation) =>
        tool('write').output.render({ file_path: 'raw', content: 'c' }, { path: '/d/p', operation, before: null, after: 'c' }),
      ),
      ...args.map((arg) => tool('edit').output.render(arg, { path: '/d/p', before: 'a', after: 'b' })),
      tool('write').output.presentationMeta?.(
        { file_path: 'raw', content: 'c' },
        { path: '/d/p', operation: 'update', before: null, after: 'c' },
      ),
    ])
    expect(mine).toEqual(theirs)
  })

  test('of hunks', async () => {
    const numbered = (count: number, change: (line: string, index: number) => string = (line) => line) =>
      Array.from({ length: count }, (_, index) => change(`s${index + 1}\n`, index + 1)).join('')
    const pairs: [string, string][] = [
      ['', 'x\ny\n'],
      ['x\ny\n', ''],
      ['z\n', 'z'],
      ['z', 'z\n'],
      ['same\n', 'same\n'],
      ['', ''],
      ['a', 'b'],
      [numbered(11), numbered(11, (line, index) => (index === 6 ? `N\n${line}` : line))],
      [numbered(20), numbered(20, (line, index) => ([4, 12].includes(index) ? 'X\n' : line))],
      [numbered(20), numbered(20, (line, index) => ([4, 11].includes(index) ? 'X\n' : line))],
      [numbered(9), numbered(9).trimEnd()],
      ['ä😀\n\u2028\r\nx\n', 'ä😀!\n\u2028\r\nx\n'],
      [`p\n${'r\n'.repeat(8)}q\n`, `p\n${'r\n'.repeat(9)}q\n`],
    ]
    const { mine, theirs } = await both((tool) =>
      pairs.map(([before, after]) => [
        tool('edit').output.presentationMeta?.({ file_path: 'raw', old_string: 'a', new_string: 'b' }, { path: '/d/p', before, after }),
        tool('write').output.presentationMeta?.({ file_path: 'raw', content: '' }, { path: '/d/p', operation: 'update', before, after }),
      ]),
    )
    expect(mine).toEqual(theirs)
  })
})
