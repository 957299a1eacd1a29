/**
 * What the tests of the edge cases share: a fresh directory with a mounted context, and the words for expected outcomes.
 * @module
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { getSystemErrorMap } from 'node:util'
import type { FileSystem, FsInfo, FsTarget, FsTargetKey, FsVersion } from '@deepseek-ai/dsh-fs'
import type { ToolExecutionResult } from '@deepseek-ai/dsh-tools'
import { expect, onTestFinished } from 'vitest'
import { describeError, type Failure, type Mounted, type MountOptions, mount, type ProviderConfig, type ToolsConfig } from './packages.ts'

export * from './packages.ts'

/** A fresh directory for one test, with the file operations that tests are made of. */
export class Workspace {
  readonly dir: string

  /** @param parent where it is made. */
  constructor(parent = tmpdir()) {
    this.dir = realpathSync(mkdtempSync(join(parent, 'edge-')))
    onTestFinished(() => rmSync(this.dir, { recursive: true, force: true }))
  }

  /** The absolute path of a name. */
  at(...names: string[]): string {
    return join(this.dir, ...names)
  }

  /** Writes a file, with its directories. @returns its absolute path. */
  file(name: string, content: string | Uint8Array = '', mode?: number): string {
    const path = this.at(name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    if (mode !== undefined) chmodSync(path, mode)
    return path
  }

  directory(name: string): string {
    mkdirSync(this.at(name), { recursive: true })
    return this.at(name)
  }

  link(name: string, target: string): string {
    symlinkSync(target, this.at(name))
    return this.at(name)
  }

  /** The bytes of a file, one character each: shows endings, marks and invalid sequences as they are. */
  bytes(name: string): string {
    return readFileSync(this.at(name), 'latin1')
  }

  text(name: string): string {
    return readFileSync(this.at(name), 'utf8')
  }

  mode(name: string): string {
    return (lstatSync(this.at(name)).mode & 0o7777).toString(8).padStart(4, '0')
  }

  /** All names below, sorted, directories with a slash. Links are not followed. */
  tree(): string[] {
    const below = (prefix: string): string[] =>
      readdirSync(this.at(prefix), { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? [`${prefix}${entry.name}/`, ...below(`${prefix}${entry.name}/`)] : [prefix + entry.name],
      )
    return below('').sort()
  }
}

/** A workspace and what is mounted on it. */
export class Edge extends Workspace {
  mounted!: Mounted

  static async with(options: MountOptions): Promise<Edge> {
    const edge = new Edge()
    await edge.mount(edge.dir, options)
    return edge
  }

  /** Mounts on a base directory until the test is over. */
  async mount(cwd: string, options: MountOptions): Promise<void> {
    this.mounted = await mount(cwd, options)
    onTestFinished(() => this.ctx.fiber.dispose())
  }

  get ctx(): Mounted['ctx'] {
    return this.mounted.ctx
  }

  get fs(): FileSystem {
    return this.mounted.ctx.fs
  }

  get observed(): Mounted['observed'] {
    return this.mounted.observed
  }

  get call(): Mounted['call'] {
    return this.mounted.call
  }

  resolve(path: string): Promise<FsTarget> {
    return this.fs.resolve(path)
  }

  /** The metadata of a path that exists. */
  async info(path: string): Promise<FsInfo> {
    const info = await this.fs.stat(await this.resolve(path))
    if (!info) throw new Error(`${path} does not exist`)
    return info
  }

  async version(path: string): Promise<FsVersion> {
    return (await this.info(path)).version
  }

  /** One literal edit through the provider. */
  async edit(path: string, oldString: string, newString: string, replaceAll = false): ReturnType<FileSystem['editText']> {
    return this.fs.editText(await this.resolve(path), { oldString, newString, replaceAll })
  }
}

/** A provider alone. */
export const withProvider = (provider: ProviderConfig = {}): Promise<Edge> => Edge.with({ provider })

/** Provider and tools, nothing that guards. */
export const withTools = (tools: ToolsConfig = {}): Promise<Edge> => Edge.with({ tools })

/** Provider, tools and policy: what a session has. */
export const withPolicy = (): Promise<Edge> => Edge.with({ tools: {}, policy: true })

/** A target that nothing has resolved. */
export const targetOf = (key: string): FsTarget => ({ targetKey: key as FsTargetKey, displayPath: key })

/** A version that no file has. */
export const OTHER_VERSION = '1:1:1:1:1' as FsVersion

/** The error of a call that must fail. */
export async function failed(call: Promise<unknown>): Promise<Failure> {
  let value: unknown
  try {
    value = await call
  } catch (error) {
    return describeError(error)
  }
  throw new Error(`expected a failure, got ${JSON.stringify(value)?.slice(0, 500)}`)
}

/** The harness's own error with this code and text, and with this `code` of its cause. */
export const fsError = (code: string, message: string, cause?: string): Failure => ({
  kind: 'FsError',
  code,
  message,
  ...(cause === undefined ? {} : { cause }),
})

/** A system error as Node words it. A file operation's text also names the call and its paths, given by the pattern. */
export const raw = (code: string, pattern: RegExp = new RegExp(`^${code}: `)): object => ({
  kind: 'raw',
  code,
  message: expect.stringMatching(pattern),
})

/** The typed form of a system error (D18). */
export function typed(verb: 'resolve' | 'stat' | 'read' | 'write' | 'edit' | 'list', path: string, errno: string): Failure {
  const text = (code: string, reason: string): Failure => fsError(code, `cannot ${verb} "${path}": ${reason}`, errno)
  if (errno === 'EACCES' || errno === 'EPERM') return text('FS_PERMISSION_DENIED', 'permission denied')
  if (errno === 'ENOENT' || errno === 'ENOTDIR') return text('FS_NOT_FOUND', 'not found')
  const [, description] = [...getSystemErrorMap().values()].find(([name]) => name === errno)!
  return text('FS_IO_ERROR', `${errno}: ${description}`)
}

/** The envelope of the tools' texts. */
export const envelope = (path: string, body: string): string => `<path>${path}</path>\n<type>file</type>\n<content>\n${body}\n</content>`

/** The text of a call that must succeed. */
export function textOf(result: ToolExecutionResult): string {
  if (result.isError) throw new Error(`expected a success, got ${JSON.stringify(result.error)}`)
  return rendered(result)
}

/** The value of a call that must succeed. */
export function successOf(result: ToolExecutionResult): Record<string, unknown> {
  if (result.isError) throw new Error(`expected a success, got ${JSON.stringify(result.error)}`)
  return result.value as Record<string, unknown>
}

/** The diffs that a successful write or edit hands to the card. */
export function diffsOf(result: ToolExecutionResult): { path: string; oldText: string | null; newText: string }[] {
  if (result.isError) throw new Error(`expected a success, got ${JSON.stringify(result.error)}`)
  return (result.meta as { diffs: ReturnType<typeof diffsOf> }).diffs
}

/** The error of a call that must fail; the model reads the same text. */
export function errorOf(result: ToolExecutionResult): { message: string; info?: { name: string; code: string } } {
  if (!result.isError) throw new Error(`expected a failure, got ${JSON.stringify(result.value).slice(0, 500)}`)
  expect(rendered(result)).toBe(`Error: ${result.error.message}`)
  return result.error
}

/** An error that the tools report with the harness's code. */
export const toolError = (code: string, message: string): ReturnType<typeof errorOf> => ({ message, info: { name: 'FsError', code } })

function rendered(result: ToolExecutionResult): string {
  const [block, ...more] = result.content
  if (block?.type !== 'text' || more.length > 0) throw new Error(`expected one text block, got ${JSON.stringify(result.content)}`)
  return block.text
}

/** A promise that resolves when it is opened. */
export function latch(): { opened: Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** A signal that is aborted already. */
export const ABORTED = AbortSignal.abort()
