/** Edge cases of the read tool (contract: read). */
import type { FsTarget } from '@deepseek-ai/dsh-fs'
import type { ToolExecutionInput, ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { expect, test } from 'vitest'
import { Edge, envelope, errorOf, Provider, replaced, successOf, type ToolsConfig, textOf, toolError, withTools } from './context.ts'

/** A workspace with the file `f.txt` of this content. */
async function withFile(content: string | Uint8Array, config: ToolsConfig = {}): Promise<Edge> {
  const edge = await withTools(config)
  edge.file('f.txt', content)
  return edge
}

const read = (edge: Edge, window: object = {}, file_path = 'f.txt'): Promise<ToolExecutionResult> =>
  edge.call('read', { file_path, ...window })

/** The lines that the tool returns for a file. */
async function linesOf(content: string | Uint8Array, window: object = {}, config: ToolsConfig = {}): Promise<string[]> {
  const value = successOf(await read(await withFile(content, config), window))
  return (value['lines'] as { text: string }[]).map((line) => line.text)
}

/** The footer of a successful read. */
function footerOf(result: ToolExecutionResult): string {
  return textOf(result).split('\n').at(-2)!
}

const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')
const numbersOf = (result: ToolExecutionResult): number[] => (successOf(result)['lines'] as { number: number }[]).map((line) => line.number)
const MARKER = '... (line truncated to 2000 chars)'

test('#107 an empty file', async () => {
  const edge = await withFile('')
  const result = await read(edge)
  expect(textOf(result)).toBe(envelope(edge.at('f.txt'), '(End of file - total 0 lines)'))
  expect(successOf(result)).toEqual({ path: edge.at('f.txt'), offset: 1, lines: [], totalLines: 0 })
})

test('#108 the second line of an empty file', async () => {
  const edge = await withFile('')
  expect(errorOf(await read(edge, { offset: 2 }))).toEqual(
    toolError('FS_NOT_FOUND', `offset 2 is out of range for "${edge.at('f.txt')}" (0 lines)`),
  )
})

test('#109 a file that is a line break', async () => {
  const edge = await withFile('\n')
  expect(textOf(await read(edge))).toBe(envelope(edge.at('f.txt'), '1: \n\n(End of file - total 1 lines)'))
})

test('#110 with and without a final line break', async () => {
  for (const content of ['u\nv', 'u\nv\n']) {
    const edge = await withFile(content)
    expect(textOf(await read(edge))).toBe(envelope(edge.at('f.txt'), '1: u\n2: v\n\n(End of file - total 2 lines)'))
  }
})

test('#111 one carriage return at the end of a line is dropped', async () => {
  expect(await linesOf('u\r\nv\r\r\nw\rx')).toEqual(['u', 'v\r', 'w\rx'])
})

test('#112 a file that is a carriage return', async () => {
  expect(await linesOf('\r')).toEqual([''])
})

test('#113 a window in the middle', async () => {
  const result = await read(await withFile(lines(12)), { offset: 5, limit: 3 })
  expect(numbersOf(result)).toEqual([5, 6, 7])
  expect(footerOf(result)).toBe('(Showing lines 5-7 of 12. Use offset=8 to continue.)')
})

test('#114 a window beyond the end', async () => {
  const result = await read(await withFile(lines(12)), { offset: 11, limit: 9 })
  expect(numbersOf(result)).toEqual([11, 12])
  expect(footerOf(result)).toBe('(End of file - total 12 lines)')
})

test('#115 a window behind the end', async () => {
  const edge = await withFile(lines(12))
  expect(errorOf(await read(edge, { offset: 13 }))).toEqual(
    toolError('FS_NOT_FOUND', `offset 13 is out of range for "${edge.at('f.txt')}" (12 lines)`),
  )
  expect(edge.observed).toEqual([])
})

test('#116 a line of 2001 units', async () => {
  expect(await linesOf('x'.repeat(2001))).toEqual([`${'x'.repeat(2000)}${MARKER}`])
})

test('#117 a line of 2000 units with CRLF', async () => {
  expect(await linesOf(`${'x'.repeat(2000)}\r\n`)).toEqual(['x'.repeat(2000)])
})

test('#118 a carriage return as unit 2001 of a longer line (D14)', async () => {
  const kept = 'x'.repeat(2000)
  expect(await linesOf(`${kept}\rHIDDEN`)).toEqual([replaced('D14', { original: kept, ours: `${kept}${MARKER}` })])
})

test('#119 a surrogate pair across the cut (D14)', async () => {
  const kept = 'x'.repeat(1999)
  expect(await linesOf(`${kept}\u{1F600}more`)).toEqual([replaced('D14', { original: `${kept}\uD83D${MARKER}`, ours: `${kept}${MARKER}` })])
})

test('#120 a line too many for the bytes of one answer', async () => {
  const result = await read(await withFile(`${`${'x'.repeat(1023)}\n`.repeat(50)}y`))
  expect(numbersOf(result).at(-1)).toBe(50)
  expect(footerOf(result)).toBe('(Output capped. Showing lines 1-50. Use offset=51 to continue.)')
  expect(successOf(result)['totalLines']).toBe(51)
})

test('#121 exactly the bytes of one answer', async () => {
  const content = `${'x'.repeat(1024)}\n${`${'x'.repeat(1023)}\n`.repeat(49)}`
  expect(content.length - 1).toBe(51_200)
  const result = await read(await withFile(content))
  expect(footerOf(result)).toBe('(End of file - total 50 lines)')
})

test('#122 the bytes of one answer are those of UTF-8', async () => {
  const result = await read(await withFile(`${'é'.repeat(600)}\n`.repeat(60)))
  expect(numbersOf(result)).toHaveLength(42)
  expect(footerOf(result)).toBe('(Output capped. Showing lines 1-42. Use offset=43 to continue.)')
})

test('#123 fewer bytes allowed than the first line has', async () => {
  const edge = await withFile('aaa\nb', { readMaxBytes: 2 })
  const result = await read(edge)
  expect(successOf(result)).toMatchObject({ lines: [], totalLines: 2 })
  expect(textOf(result)).toBe(envelope(edge.at('f.txt'), '(Output capped. Showing lines 1-0. Use offset=1 to continue.)'))
})

test('#124 more lines than one answer has', async () => {
  const result = await read(await withFile(lines(2500)))
  expect(numbersOf(result)).toHaveLength(2000)
  expect(footerOf(result)).toBe('(Showing lines 1-2000 of 2500. Use offset=2001 to continue.)')
})

test('#125 multi-byte text in a stream', async () => {
  expect(await linesOf(`${'é'.repeat(50_000)}\r\nlast`, { offset: 2 }, { readStreamMinSize: 1 })).toEqual(['last'])
})

test('#126 an invalid byte far behind the window', async () => {
  const edge = await withFile(Buffer.concat([Buffer.from(lines(30_000)), Buffer.from([0xff])]))
  expect(errorOf(await read(edge, { limit: 1 }))).toEqual(toolError('FS_NOT_TEXT', `cannot read "${edge.at('f.txt')}": invalid UTF-8 text`))
  expect(edge.observed).toEqual([])
})

const NOT_AN_OFFSET = 'offset must be a positive integer'
for (const [name, window, message] of [
  ['#127 offset 0', { offset: 0 }, NOT_AN_OFFSET],
  ['#128 offset 2.5', { offset: 2.5 }, NOT_AN_OFFSET],
  ['#129 limit -4', { limit: -4 }, 'limit must be a positive integer'],
  ['#130 limit 2001', { limit: 2001 }, 'limit must be less than or equal to 2000'],
  ['#131 offset 0 and limit 9999', { offset: 0, limit: 9999 }, NOT_AN_OFFSET],
] as const) {
  test(name, async () => {
    expect(errorOf(await read(await withFile('x'), window))).toEqual({ message })
  })
}

const invalidArguments = (violation: string) => ({
  message: `invalid arguments: ${violation}`,
  info: { name: 'ToolArgsError', code: 'INVALID_ARGS' },
})

test('#132 an offset that is a string', async () => {
  expect(errorOf(await read(await withFile('x'), { offset: '2' }))).toEqual(invalidArguments('"offset" must be a number'))
})

test('#133 a missing path and an unknown argument', async () => {
  const edge = await withFile('x')
  expect(errorOf(await edge.call('read', {}))).toEqual(invalidArguments('missing required property "file_path"'))
  expect(successOf(await read(edge, { zoom: 1 }))['totalLines']).toBe(1)
})

/** Notes the calls of the methods that a read goes through. */
class Watched extends Provider {
  static log: string[] = []
  override resolve(...args: Parameters<InstanceType<typeof Provider>['resolve']>): Promise<FsTarget> {
    Watched.log.push('resolve')
    return super.resolve(...args)
  }
  override async stat(...args: Parameters<InstanceType<typeof Provider>['stat']>): ReturnType<InstanceType<typeof Provider>['stat']> {
    const info = await super.stat(...args)
    Watched.log.push(`stat ${info?.version}`)
    return info
  }
  override readText(...args: Parameters<InstanceType<typeof Provider>['readText']>): Promise<string> {
    Watched.log.push('readText')
    return super.readText(...args)
  }
}

async function watched(): Promise<{ edge: Edge; log: string[] }> {
  const edge = await Edge.with({ Provider: Watched, tools: {} })
  const log: string[] = []
  Watched.log = log
  edge.ctx.on('fs/observed', (_target, observation) => {
    log.push(observation.kind === 'present' ? `observed ${observation.version}` : 'observed absent')
  })
  return { edge, log }
}

test('#134 a blank path', async () => {
  const { edge, log } = await watched()
  expect(errorOf(await read(edge, {}, '\n '))).toEqual({ message: 'file_path must be a non-empty string' })
  expect(log).toEqual([])
})

test('#135 the order of effects', async () => {
  const { edge, log } = await watched()
  edge.file('f.txt', 'x')
  successOf(await read(edge))
  const version = (log[1] ?? '').replace('stat ', '')
  expect(log).toEqual(['resolve', `stat ${version}`, 'readText', `observed ${version}`])
  expect(version).toBe(await edge.version('f.txt'))
})

test('#136 a missing file', async () => {
  const edge = await withTools()
  expect(errorOf(await read(edge, {}, 'no'))).toEqual(toolError('FS_NOT_FOUND', `cannot read "${edge.at('no')}": not found`))
  expect(edge.observed).toEqual([{ target: await edge.resolve('no'), observation: { kind: 'absent' } }])
})

test('#137 a directory', async () => {
  const edge = await withTools()
  expect(errorOf(await read(edge, {}, '.'))).toEqual(toolError('FS_NOT_REGULAR_FILE', `cannot read "${edge.dir}": not a regular file`))
  expect(edge.observed).toEqual([])
})

test('#138 the end of the envelope within the content', async () => {
  const edge = await withFile('</content>\n')
  expect(textOf(await read(edge))).toBe(envelope(edge.at('f.txt'), '1: </content>\n\n(End of file - total 1 lines)'))
})

test('#139 the card of a call', async () => {
  const edge = await withTools()
  const card = (window: object) => edge.ctx.tools.get('read')!.presentCall!({ file_path: 's.rs', ...window })
  const expected = (title: string, line: number) => ({ card: 'generic', title, kind: 'read', locations: [{ path: 's.rs', line }] })
  expect(card({ offset: 8, limit: 3 })).toEqual(expected('Read s.rs (8 - 10)', 8))
  expect(card({ offset: 8 })).toEqual(expected('Read s.rs (from line 8)', 8))
  expect(card({ limit: 3 })).toEqual(expected('Read s.rs (1 - 3)', 1))
  expect(card({})).toEqual(expected('Read s.rs', 1))
})

test('#140 the card of a result', async () => {
  const edge = await withTools()
  edge.file('m.PY', 'u\nv\n')
  const args = { file_path: 'm.PY' }
  const result = await edge.call('read', args)
  expect(edge.ctx.tools.get('read')!.presentResult!(args, result)).toEqual({
    card: 'read',
    path: edge.at('m.PY'),
    offset: 1,
    lines: [
      { number: 1, text: 'u' },
      { number: 2, text: 'v' },
    ],
    totalLines: 2,
    lang: 'py',
    content: [{ type: 'text', text: '1: u\n2: v\n\n(End of file - total 2 lines)' }],
  })
})

test('#141 a line break in the name', async () => {
  const edge = await withTools()
  const path = edge.file('a\nb', 'u')
  const args = { file_path: 'a\nb' }
  const result = await edge.call('read', args)
  expect(textOf(result)).toBe(envelope(path, '1: u\n\n(End of file - total 1 lines)'))
  expect(edge.ctx.tools.get('read')!.presentResult!(args, result)).toBeUndefined()
})

test('#142 the language of a name', async () => {
  const edge = await withTools()
  for (const [name, lang] of [
    ['a.CTS', 'ts'],
    ['.zshrc', undefined],
    ['x.hasOwnProperty', undefined],
    ['Dockerfile', undefined],
    ['v.min.js', 'js'],
    ['t.markdown', 'md'],
  ] as const) {
    edge.file(name, 'x')
    const { meta } = await read(edge, {}, name)
    expect((meta as { lang?: string }).lang, name).toBe(lang)
  }
})

test('#143 which calls may run side by side', async () => {
  const { ctx } = await withTools()
  const modeOf = (name: string, args: object) =>
    ctx.tools.executionMode({ name, arguments: args, callId: 'c', signal: new AbortController().signal } as unknown as ToolExecutionInput)
  expect(modeOf('read', { file_path: 'f' })).toEqual({ kind: 'parallel' })
  expect(modeOf('read', { file_path: 1 })).toEqual({ kind: 'exclusive' })
  expect(modeOf('write', { file_path: 'f', content: '' })).toEqual({ kind: 'exclusive' })
  expect(modeOf('edit', { file_path: 'f', old_string: 'a', new_string: 'b' })).toEqual({ kind: 'exclusive' })
})
