/** Edge cases of the provider's literal edits (contract: edits). */
import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ABORTED, type Edge, failed, fsError, OTHER_VERSION, replaced, withProvider } from './context.ts'

/** A workspace with the file `f` of this text. */
async function withFile(content: string | Uint8Array): Promise<Edge> {
  const edge = await withProvider()
  edge.file('f', content)
  return edge
}

/** Replaces once in a file of this text. @returns the bytes that the file has then. */
async function edited(content: string, oldString: string, newString: string): Promise<string> {
  const edge = await withFile(content)
  await edge.edit('f', oldString, newString)
  return edge.bytes('f')
}

const notFound = (edge: Edge) => fsError('FS_EDIT_NOT_FOUND', `old_string was not found in "${edge.at('f')}"`)
const changed = (edge: Edge) => fsError('FS_STALE_VERSION', `cannot edit "${edge.at('f')}": file changed since it was read`)

test('#73 the byte-order mark of an edited file (D11)', async () => {
  const edge = await withFile('\uFEFFw1')
  expect(await edge.edit('f', 'w1', 'w2')).toMatchObject({ before: 'w1', after: 'w2' })
  expect(edge.text('f')).toBe(replaced('D11', { original: 'w2', ours: '\uFEFFw2' }))
})

test('#74 a new line in a CRLF file', async () => {
  const edge = await withFile('h\r\ni\r\nj')
  expect(await edge.edit('f', 'i', 'I\nK')).toMatchObject({ before: 'h\ni\nj', after: 'h\nI\nK\nj' })
  expect(edge.bytes('f')).toBe('h\r\nI\r\nK\r\nj')
})

test('#75 as many CRLF as lone LF (D11)', async () => {
  expect(await edited('h\r\ni\nj', 'j', 'J')).toBe(replaced('D11', { original: 'h\ni\nJ', ours: 'h\r\ni\nJ' }))
})

test('#76 more CRLF than lone LF (D11)', async () => {
  const edge = await withFile('h\r\ni\r\nj\nk')
  expect(await edge.edit('f', 'k', 'K')).toMatchObject({ before: 'h\ni\nj\nk', after: 'h\ni\nj\nK' })
  expect(edge.bytes('f')).toBe(replaced('D11', { original: 'h\r\ni\r\nj\r\nK', ours: 'h\r\ni\r\nj\nK' }))
})

test('#77 doubled carriage returns (D11)', async () => {
  expect(await edited('h\r\r\ni\r\r\nj', 'j', 'J')).toBe(replaced('D11', { original: 'h\r\ni\r\nJ', ours: 'h\r\r\ni\r\r\nJ' }))
})

test('#78 one LF within the first 4096 units, CRLF after them (D11)', async () => {
  const head = `${'-'.repeat(4096)}\n`.slice(1)
  const tail = (last: string, ending: string): string => `${'line'}${ending}`.repeat(39) + last + ending
  const content = `${head}${tail('last', '\r\n')}`
  expect(await edited(content, 'last', 'LAST')).toBe(
    replaced('D11', { original: `${head}${tail('LAST', '\n')}`, ours: `${head}${tail('LAST', '\r\n')}` }),
  )
})

test('#79 a CRLF across the end of the first 4096 units (D11)', async () => {
  const head = '-'.repeat(4095)
  expect(await edited(`${head}\r\nz`, 'z', 'Z')).toBe(replaced('D11', { original: `${head}\nZ`, ours: `${head}\r\nZ` }))
})

test('#80 LF and CRLF in the searched text match alike', async () => {
  expect(await edited('h\r\ni', 'h\ni', 'x')).toBe('x')
  expect(await edited('h\r\ni', 'h\r\ni', 'x')).toBe('x')
})

test('#81 the carriage return of a CRLF is not found', async () => {
  const edge = await withFile('h\r\ni')
  expect(await failed(edge.edit('f', '\r', 'x'))).toEqual(notFound(edge))
  expect(edge.bytes('f')).toBe('h\r\ni')
})

test('#82 a lone carriage return is', async () => {
  expect(await edited('h\ri', '\r', '\n')).toBe('h\ni')
})

test('#83 overlapping matches count once (until D16)', async () => {
  expect(await edited('ooo', 'oo', 'e')).toBe('eo')
})

test('#84 two matches (until D16)', async () => {
  const edge = await withFile('oooo')
  expect(await failed(edge.edit('f', 'oo', 'e'))).toEqual(
    fsError(
      'FS_AMBIGUOUS_EDIT',
      `old_string matched 2 times in "${edge.at('f')}"; provide a more specific old_string or set replace_all to true`,
    ),
  )
  expect(edge.bytes('f')).toBe('oooo')
})

test('#85 the new text is literal', async () => {
  expect(await edited('v1', '1', '$&$$')).toBe('v$&$$')
})

test('#86 an empty searched text', async () => {
  const edge = await withFile('text')
  expect(await failed(edge.edit('f', '', 'x'))).toEqual(fsError('FS_EDIT_NOT_FOUND', 'old_string must be a non-empty string'))
})

test('#87 texts that differ only in their line endings', async () => {
  const edge = await withFile('h\ni')
  const inode = statSync(edge.at('f')).ino
  expect(await edge.edit('f', 'h\r\n', 'h\n')).toEqual({ before: 'h\ni', after: 'h\ni', version: await edge.version('f') })
  expect(edge.bytes('f')).toBe('h\ni')
  expect(statSync(edge.at('f')).ino).not.toBe(inode)
})

test('#88 a missing file', async () => {
  const edge = await withProvider()
  expect(await failed(edge.edit('f', 'a', 'b'))).toEqual(changed(edge))
})

test('#89 a missing file comes before an aborted signal', async () => {
  const edge = await withProvider()
  const edit = { oldString: 'a', newString: 'b', replaceAll: false }
  expect(await failed(edge.fs.editText(await edge.resolve('f'), edit, undefined, ABORTED))).toEqual(changed(edge))
})

test('#90 a stale guard comes before a missing match', async () => {
  const edge = await withFile('text')
  const edit = { oldString: 'absent', newString: 'b', replaceAll: false }
  expect(await failed(edge.fs.editText(await edge.resolve('f'), edit, { version: OTHER_VERSION }))).toEqual(changed(edge))
})

test('#91 a NUL at byte 9000 (D13)', async () => {
  const head = `a${'-'.repeat(8999)}\0`
  const edge = await withFile(`${head}z`)
  expect(await edge.fs.readText(await edge.resolve('f'))).toBe(`${head}z`)
  const refused = fsError('FS_NOT_TEXT', `cannot edit "${edge.at('f')}": binary file`)
  const change = edge.edit('f', 'z', 'Z')
  const outcome = await change.catch(() => failed(change))
  expect(outcome).toMatchObject(replaced<object>('D13', { original: refused, ours: { before: `${head}z`, after: `${head}Z` } }))
  expect(edge.bytes('f')).toBe(replaced('D13', { original: `${head}z`, ours: `${head}Z` }))
})

test('#92 a directory', async () => {
  const edge = await withProvider()
  const path = edge.directory('g')
  expect(await failed(edge.edit('g', 'a', 'b'))).toEqual(fsError('FS_NOT_REGULAR_FILE', `cannot edit "${path}": not a regular file`))
})

test('#93 twelve edits at once apply in the order of their calls', async () => {
  const edge = await withFile('m')
  const target = await edge.resolve('f')
  const letters = [...'abcdefghijkl']
  await Promise.all(letters.map((letter) => edge.fs.editText(target, { oldString: 'm', newString: `m${letter}`, replaceAll: false })))
  expect(edge.bytes('f')).toBe(`m${letters.reverse().join('')}`)
})
