/** Each rule accepts what its decision prescribes and nothing beside it. */
import { describe, expect, test } from 'vitest'
import type { Case, RuleName } from './case.ts'
import { type PlainObject, Version } from './plain.ts'
import { checkHunks, expectEdit, expectWindow } from './reference.ts'
import { applyRules } from './rules.ts'
import { hasForm } from './rules-errors.ts'
import type { Tree } from './tree.ts'

const FILE = '<D>/in/work/f'

function treeWith(bytes: string | Buffer): Tree {
  return new Map([['in/work/f', { type: 'file', mode: 0o644, bytes: Buffer.from(bytes as string) }]])
}

function makeCase(part: Partial<Case> & Pick<Case, 'call' | 'expected' | 'actual'>): Case {
  const tree = treeWith('')
  return {
    before: tree,
    expectedTree: tree,
    actualTree: tree,
    settings: { policy: false },
    problems: [],
    publishedByUs: [],
    root: '/roots/r',
    ...part,
  }
}

function used(one: Case, ...rules: RuleName[]): RuleName[] {
  return applyRules(one, new Set(rules))
}

const target = { targetKey: FILE, displayPath: FILE }
const version = (token: string) => new Version(token, false)
const rawError = (code: string, message: string): PlainObject => ({ class: 'Error', name: 'Error', code, message, cause: 'none' })
const typedError = (code: string, message: string, cause = 'none'): PlainObject => ({
  class: 'FsError',
  name: 'FsError',
  code,
  message,
  cause,
})

function editCase(before: Buffer | string, original: Buffer | string, ours: Buffer | string, oldString: string, newString: string): Case {
  const value = (token: string): PlainObject => ({ info: { version: version(token), before: 'b', after: 'a' }, exact: true })
  return makeCase({
    call: { kind: 'provider', method: 'editText', path: 'f', oldString, newString, replaceAll: false },
    expected: { stage: 'call', target, value: value('1:1') },
    actual: { stage: 'call', target, value: value('2:2') },
    before: treeWith(before),
    expectedTree: treeWith(original),
    actualTree: treeWith(ours),
  })
}

describe('D10, cancelled while waiting', () => {
  const queue = (signal: 'after' | undefined, ours: PlainObject, index = 1): Case => {
    const stale = typedError('FS_STALE_VERSION', `cannot edit "${FILE}": file changed since it was read`)
    const ok: PlainObject = { value: 'done' }
    const list = (error: PlainObject): PlainObject[] => (index === 1 ? [ok, { error }] : [{ error }, ok])
    const call = { method: 'editText', guard: 'none', text: 'x', ...(signal === undefined ? {} : { signal }) } as const
    const other = { method: 'editText', guard: 'none', text: 'y' } as const
    return makeCase({
      call: { kind: 'queue', path: 'f', calls: index === 1 ? [other, call] : [call, other] },
      expected: { stage: 'call', calls: list(stale) },
      actual: { stage: 'call', calls: list(ours) },
    })
  }
  const aborted = typedError('FS_ABORTED', 'edit aborted')
  test('is expected where the call waited', () => {
    const one = queue('after', aborted)
    expect(used(one, 'D10')).toEqual(['D10'])
    expect(one.expected).toEqual(one.actual)
  })
  test('is not allowed without an abort, nor for the call in front, nor with another message', () => {
    expect(used(queue(undefined, aborted), 'D10')).toEqual([])
    expect(used(queue('after', aborted, 0), 'D10')).toEqual([])
    expect(used(queue('after', typedError('FS_ABORTED', 'gone')), 'D10')).toEqual([])
  })
})

describe('D11, an edit keeps what it did not match', () => {
  test('a BOM, mixed breaks and CR CR LF stay', () => {
    const one = editCase('\uFEFFa\r\nb\nc\r\r\nd', 'a\nB\nc\n\nd', '\uFEFFa\r\nB\nc\r\r\nd', 'b', 'B')
    expect(used(one, 'D11')).toEqual(['D11'])
    expect(one.problems).toEqual([])
    expect(one.expectedTree.get('in/work/f')?.bytes).toEqual(one.actualTree.get('in/work/f')?.bytes)
  })
  test('a byte outside the match must not change, also where the original changes it', () => {
    for (const ours of ['a\r\nB\nC', 'a\nB\nc', 'a\r\nB\r\nc', 'a\r\nB\nc\n']) {
      const one = editCase('a\r\nb\nc', 'a\nB\nc', ours, 'b', 'B')
      used(one, 'D11')
      expect(one.problems, JSON.stringify(ours)).toHaveLength(1)
    }
  })
  test('a break in the new text takes the style of the match, else of the nearest break, else LF', () => {
    const check = (before: string, oldString: string, newString: string, result: string) => {
      const expectation = expectEdit(Buffer.from(before), FILE, oldString, newString, false)
      return 'error' in expectation ? expectation.error.code : expectation.check(Buffer.from(result))
    }
    expect(check('a\r\nb\n\n\nc', 'a\nb', 'x\ny', 'x\r\ny\n\n\nc')).toBeUndefined()
    expect(check('a\r\nb\n\n\nc', 'a\nb', 'x\ny', 'x\ny\n\n\nc')).toContain('lf')
    expect(check('aaaa\nbbb\r\nc', 'c', 'x\ny', 'aaaa\nbbb\r\nx\r\ny')).toBeUndefined()
    expect(check('aaaa\nbbb\r\nc', 'c', 'x\ny', 'aaaa\nbbb\r\nx\ny')).toContain('lf')
    expect(check('c', 'c', 'x\r\ny', 'x\ny')).toBeUndefined()
    expect(check('c', 'c', 'x\r\ny', 'x\r\ny')).toContain('crlf')
  })
})

describe('D13, NUL behind the first 8192 bytes', () => {
  const text = `${'q'.repeat(8192)}\0 end`
  const binary = typedError('FS_NOT_TEXT', `cannot edit "${FILE}": binary file`)
  const lateCase = (before: string, ours: PlainObject): Case => ({
    ...editCase(before, before, before.replace('end', 'END'), 'end', 'END'),
    expected: { stage: 'call', target, error: binary },
    actual: { stage: 'call', target, ...ours },
  })
  const outcome = (after: string): PlainObject => ({ value: { info: { version: version('2:2'), before: text, after }, exact: true } })
  test('does not stop an edit', () => {
    const one = lateCase(text, outcome(text.replace('end', 'END')))
    expect(used(one, 'D11', 'D13')).toEqual(['D13', 'D11'])
    expect(one.expected).toEqual(one.actual)
    expect(one.publishedByUs).toEqual([FILE.slice('<D>/'.length)])
  })
  test('demands the right outcome', () => {
    const one = lateCase(text, outcome('something else'))
    used(one, 'D13')
    expect(one.expected).not.toEqual(one.actual)
  })
  test('still stops it within them', () => {
    const early = `q\0${text}`
    const one = lateCase(early, outcome(early.replace('end', 'END')))
    expect(used(one, 'D13')).toEqual([])
  })
})

describe('D14, long lines', () => {
  const limits = { lines: 10, lineLength: 4, bytes: 1000 }
  const texts = (text: string) => expectWindow(text, 1, 10, limits)?.lines.map((line) => line.text)
  test('never cuts a pair and always marks the cut', () => {
    const mark = '... (line truncated to 4 chars)'
    expect(texts('abc🚀def\n')).toEqual([`abc${mark}`])
    expect(texts('abcd\rhidden\n')).toEqual([`abcd${mark}`])
    expect(texts('abcd\r\n')).toEqual(['abcd'])
    expect(texts('ab🚀\r\n')).toEqual(['ab🚀'])
  })
  test('rewrites value, text and metadata, and nothing where no line meets the cut', () => {
    const record = (text: string): PlainObject => ({
      outcome: { isError: false, value: { path: FILE, offset: 1, lines: [{ number: 1, text }], totalLines: 1 }, meta: {}, content: [] },
      resultView: { undefined: true },
      log: [{ event: 'fs/observed', target }],
    })
    const read = (bytes: string) =>
      makeCase({
        call: { kind: 'tool', tool: 'read', agent: 'main', args: { file_path: 'f' } },
        expected: record('abcd'),
        actual: record('other'),
        before: treeWith(bytes),
        settings: { policy: false, readMaxLineLength: 4 },
      })
    const one = read('abcd\rhidden\n')
    expect(used(one, 'D14')).toEqual(['D14'])
    expect(JSON.stringify(one.expected)).toContain('abcd... (line truncated to 4 chars)\\n\\n(End of file - total 1 lines)\\n</content>')
    expect(used(read('abcdef\n'), 'D14')).toEqual([])
  })
})

describe('D18, typed system errors', () => {
  const failing = (theirs: PlainObject, ours: PlainObject): Case =>
    makeCase({
      call: { kind: 'provider', method: 'readText', path: 'f' },
      expected: { stage: 'call', target, error: theirs },
      actual: { stage: 'call', target, error: ours },
    })
  const denied = () => rawError('EACCES', `EACCES: permission denied, open '${FILE}'`)
  test('have the code of their kind and name the system error', () => {
    const one = failing(denied(), typedError('FS_PERMISSION_DENIED', `cannot read "${FILE}": permission denied`, 'EACCES'))
    expect(used(one, 'D18')).toEqual(['D18'])
    expect(one.expected).toEqual(one.actual)
  })
  test('of another code or cause are differences', () => {
    for (const ours of [
      typedError('FS_IO_ERROR', `cannot read "${FILE}": permission denied`, 'EACCES'),
      typedError('FS_PERMISSION_DENIED', `cannot read "${FILE}": permission denied`, 'EIO'),
    ]) {
      const one = failing(denied(), ours)
      used(one, 'D18')
      expect(one.expected).not.toEqual(one.actual)
    }
  })
  test('without the form of the decision are problems, raw ones too', () => {
    for (const ours of [
      denied(),
      typedError('FS_PERMISSION_DENIED', `cannot write "${FILE}": permission denied`, 'EACCES'),
      typedError('FS_PERMISSION_DENIED', 'cannot read "<D>/other": permission denied', 'EACCES'),
    ]) {
      const one = failing(denied(), ours)
      expect(used(one, 'D18')).toEqual([])
      expect(one.problems).toHaveLength(1)
    }
  })
  test('are not made of errors that are no system errors', () => {
    const one = failing(
      typedError('FS_NOT_FOUND', `cannot read "${FILE}": not found`),
      typedError('FS_IO_ERROR', `cannot read "${FILE}": gone`),
    )
    expect(used(one, 'D18')).toEqual([])
    expect(one.problems).toEqual([])
  })
  test('show no staging path and no raw message', () => {
    expect(hasForm(`cannot write "${FILE}": no space left`, ['write'], [FILE])).toBe(true)
    expect(hasForm(`cannot write "${FILE}": in .f.<pid>.<uuid>.tmpdir`, ['write'], [FILE])).toBe(false)
    expect(hasForm(`cannot write "${FILE}": ENOSPC: no space left`, ['write'], [FILE])).toBe(true)
    expect(hasForm(`cannot write "${FILE}": `, ['write'], [FILE])).toBe(false)
  })
})

describe('D21, hunks', () => {
  const hunk = (oldText: string | null, newText: string) => ({ path: 'f', oldText, newText })
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i}\n`).join('')
  test('that turn the old text into the new one are valid', () => {
    expect(checkHunks('', 'x\ny\n', [hunk(null, 'x\ny')])).toBeUndefined()
    expect(checkHunks('x\n', '', [hunk('x', '')])).toBeUndefined()
    expect(checkHunks('z\n', 'z', [hunk('z', 'z')])).toBeUndefined()
    expect(checkHunks('a\nb\na\nb\n', 'a\nb\na\nc\n', [hunk('a\nb', 'a\nc')])).toBeUndefined()
    const after = numbers(30).replace('3\n', 'three\n').replace('20\n', 'twenty\n')
    expect(checkHunks(numbers(30), after, [hunk('2\n3', '2\nthree'), hunk('20', 'twenty')])).toBe(undefined)
    expect(checkHunks('a\n', 'a\n', [])).toBeUndefined()
  })
  test('that do not are reported', () => {
    expect(checkHunks('a\n', 'b\n', [])).toContain('no hunk')
    expect(checkHunks('a\n', 'a\n', [hunk('a', 'a')])).toContain('equal texts')
    expect(checkHunks('a\n', 'b\n', [hunk('a', 'c')])).toContain('do not turn')
    expect(checkHunks('a\nb\n', 'c\nd\n', [hunk('a', 'c')])).toContain('do not turn')
    expect(checkHunks(numbers(9), numbers(9).replace('4\n', '').replace('7\n', ''), [hunk('7', ''), hunk('4', '')])).toContain(
      'do not turn',
    )
    expect(checkHunks('a\n', 'a\nb\n', [hunk(null, 'b')])).toContain('null')
  })
})
