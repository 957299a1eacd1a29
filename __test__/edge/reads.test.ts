/** Edge cases of the provider's reads (contract: reads). */
import { expect, test } from 'vitest'
import { ABORTED, chunksOf, type Edge, failed, fsError, withProvider } from './context.ts'

/** A workspace with the file `b` of these bytes. */
async function withFile(bytes: string | number[]): Promise<Edge> {
  const edge = await withProvider()
  edge.file('b', typeof bytes === 'string' ? bytes : Uint8Array.from(bytes))
  return edge
}

async function readText(edge: Edge, path = 'b'): Promise<string> {
  return edge.fs.readText(await edge.resolve(path))
}

async function stream(edge: Edge, path = 'b'): Promise<string[]> {
  return chunksOf(await edge.fs.streamText(await edge.resolve(path)))
}

async function readBytes(edge: Edge, maxBytes: number): Promise<string> {
  return Buffer.from(await edge.fs.readBytes(await edge.resolve('b'), undefined, maxBytes)).toString('latin1')
}

const BOM = [0xef, 0xbb, 0xbf]
const INVALID = 'invalid UTF-8 text'
const notText = (edge: Edge, reason: string) => fsError('FS_NOT_TEXT', `cannot read "${edge.at('b')}": ${reason}`)

test('#27 a byte-order mark is removed', async () => {
  const edge = await withFile([...BOM, 0x68, 0x69])
  expect(await readText(edge)).toBe('hi')
  expect((await stream(edge)).join('')).toBe('hi')
})

test('#28 only the first of two byte-order marks is removed', async () => {
  const edge = await withFile([...BOM, ...BOM, 0x6b])
  expect(await readText(edge)).toBe('\uFEFFk')
  expect((await stream(edge)).join('')).toBe('\uFEFFk')
})

test('#29 a file that is a byte-order mark', async () => {
  const edge = await withFile(BOM)
  expect(await readText(edge)).toBe('')
  expect((await stream(edge)).join('')).toBe('')
})

test('#30 a stream ends with an empty chunk', async () => {
  const edge = await withFile('text')
  const chunks = await stream(edge)
  expect(chunks.at(-1)).toBe('')
  expect(chunks.join('')).toBe('text')
})

test('#31 a NUL after the first 8192 bytes is text', async () => {
  const edge = await withFile(`${'-'.repeat(8192)}\0text`)
  expect(await readText(edge)).toBe(`${'-'.repeat(8192)}\0text`)
})

test('#32 a NUL as byte 8192 is not', async () => {
  const edge = await withFile(`${'-'.repeat(8191)}\0`)
  expect(await failed(readText(edge))).toEqual(notText(edge, 'binary file'))
})

test('#33 a NUL counts before the encoding', async () => {
  const edge = await withFile([0xfe, 0x00])
  expect(await failed(readText(edge))).toEqual(notText(edge, 'binary file'))
})

test('#34 a sequence cut by the end of the file', async () => {
  const edge = await withFile([0x6f, 0x6b, 0xe2, 0x82])
  expect(await failed(readText(edge))).toEqual(notText(edge, INVALID))
  expect(await failed(stream(edge))).toEqual(notText(edge, INVALID))
})

test('#35 an encoded surrogate, an overlong form, a value beyond Unicode', async () => {
  for (const bytes of [
    [0xed, 0xa0, 0x80],
    [0xc0, 0xaf],
    [0xf4, 0x90, 0x80, 0x80],
  ]) {
    const edge = await withFile(bytes)
    expect(await failed(readText(edge))).toEqual(notText(edge, INVALID))
    expect(await failed(stream(edge))).toEqual(notText(edge, INVALID))
  }
})

test('#36 a stream of a missing file fails at its first step', async () => {
  const edge = await withProvider()
  const pending = await edge.fs.streamText(await edge.resolve('zip'))
  expect(await failed(pending[Symbol.asyncIterator]().next())).toMatchObject(
    fsError('FS_NOT_FOUND', `cannot read "${edge.at('zip')}": not found`),
  )
})

test('#37 a directory', async () => {
  const edge = await withProvider()
  expect(await failed(readText(edge, '.'))).toEqual(fsError('FS_NOT_REGULAR_FILE', `cannot read "${edge.dir}": not a regular file`))
})

test('#38 the byte limit is inclusive', async () => {
  const edge = await withFile('12345')
  expect(await readBytes(edge, 5)).toBe('12345')
  expect(await failed(readBytes(edge, 4))).toEqual(
    fsError('FS_TOO_LARGE', `cannot read "${edge.at('b')}": 5 bytes exceeds the 4-byte limit`),
  )
})

test('#39 more bytes than the size said', async () => {
  // The kernel says 0 bytes of such a file and then hands out what it has, like a file that grew after the size check.
  const edge = await withProvider()
  edge.link('b', '/proc/version')
  expect(await edge.info('b')).toMatchObject({ type: 'file', size: 0 })
  expect(await failed(readBytes(edge, 4))).toEqual(
    fsError('FS_TOO_LARGE', `cannot read "${edge.at('b')}": content exceeds the 4-byte limit`),
  )
})

test('#40 an empty file and no bytes allowed', async () => {
  const edge = await withFile('')
  const bytes = await edge.fs.readBytes(await edge.resolve('b'), undefined, 0)
  expect(bytes).toBeInstanceOf(Uint8Array)
  expect(bytes.length).toBe(0)
})

test('#41 an aborted signal', async () => {
  const edge = await withFile('text')
  const target = await edge.resolve('b')
  const aborted = fsError('FS_ABORTED', 'read aborted')
  expect(await failed(edge.fs.readText(target, ABORTED))).toEqual(aborted)
  expect(await failed(edge.fs.readBytes(target, ABORTED, 100))).toEqual(aborted)
  const pending = await edge.fs.streamText(target, ABORTED)
  expect(await failed(pending[Symbol.asyncIterator]().next())).toEqual(aborted)
})
