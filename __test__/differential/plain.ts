/** Results turned into plain data that two worlds can be compared by. */
import { FsError } from '@deepseek-ai/dsh-fs'
import { HarnessError } from '@deepseek-ai/dsh-llm'

/**
 * A version token. Its digits differ between worlds; what must agree is which tokens are equal.
 * Tokens of directories are `loose`: their times move with every staging file, which is nobody's contract.
 */
export class Version {
  readonly token: string
  readonly loose: boolean

  constructor(token: string, loose: boolean) {
    this.token = token
    this.loose = loose
  }

  /** The shape of the token, which must agree also where the digits cannot. */
  get form(): string {
    return this.token.replace(/\d+/g, '0')
  }
}

export type Plain = null | boolean | number | string | Version | Plain[] | { [key: string]: Plain }
export type PlainObject = { [key: string]: Plain }

const STAGING = /\.\d+\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmpdir/g

/** @returns the text without what differs between worlds: the root, and the names of staging directories. */
export function plainText(text: string, root: string): string {
  return text.replaceAll(root, '<D>').replace(STAGING, '.<pid>.<uuid>.tmpdir')
}

function classOf(error: object): string {
  if (error instanceof FsError) return 'FsError'
  if (error instanceof HarnessError) return 'HarnessError'
  return error instanceof Error ? 'Error' : 'other'
}

/** @returns the parts of an error that callers can act on. */
export function plainError(error: unknown, root: string): PlainObject {
  if (typeof error !== 'object' || error === null) return { class: typeof error, message: plainText(String(error), root) }
  const { name, code, message, cause } = error as { name?: unknown; code?: unknown; message?: unknown; cause?: unknown }
  const causeCode = (cause as { code?: unknown } | undefined)?.code
  return {
    class: classOf(error),
    name: String(name),
    code: code === undefined ? 'none' : String(code),
    message: plainText(String(message), root),
    cause: causeCode === undefined ? 'none' : String(causeCode),
  }
}

function plainObject(value: object, root: string): PlainObject {
  const result: PlainObject = {}
  for (const [key, item] of Object.entries(value)) {
    if (key === 'version' && typeof item === 'string') {
      const type = (value as { type?: unknown }).type
      result[key] = new Version(plainText(item, root), type === 'directory' || type === 'other')
    } else {
      result[key] = toPlain(item, root)
    }
  }
  return result
}

/** @returns the value as plain data; keys whose value is `undefined` stay visible as such. */
export function toPlain(value: unknown, root: string): Plain {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') return plainText(value, root)
  if (typeof value === 'number') return Number.isFinite(value) ? value : { number: String(value) }
  if (value === undefined) return { undefined: true }
  if (value instanceof Version) return value
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('hex') }
  if (value instanceof AbortSignal) return { signal: value.aborted }
  if (Array.isArray(value)) return value.map((item) => toPlain(item, root))
  if (value instanceof Error) return plainError(value, root)
  if (typeof value === 'object') return plainObject(value, root)
  return { [typeof value]: String(value) }
}

/** @returns the value under a chain of keys, or undefined where the chain ends early. */
export function at(value: Plain | undefined, ...keys: (string | number)[]): Plain | undefined {
  let current: Plain | undefined = value
  for (const key of keys) {
    if (typeof current !== 'object' || current === null || current instanceof Version) return undefined
    current = (current as { [key: string | number]: Plain })[key]
  }
  return current
}

/** @returns a copy that can be changed; versions are shared, they never change. */
export function copyPlain<T extends Plain>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof Version) return value
  if (Array.isArray(value)) return value.map((item) => copyPlain(item)) as T
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyPlain(item)])) as T
}
