/**
 * `ctx.fs` over the native engine, unconfined. Takes the place of `@deepseek-ai/dsh-fs-local`. Contract: provider.
 *
 * A service of Cordis is reached through a proxy, so the engine is an ordinary field and the class has no private ones.
 */
import { constants } from 'node:buffer'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Context } from '@deepseek-ai/cordis'
import {
  FileSystem,
  type FsDirEntry,
  type FsEditOutcome,
  type FsEditRequest,
  type FsInfo,
  type FsPathInfo,
  type FsTarget,
  type FsVersion,
  type FsWriteIntent,
  type FsWriteOutcome,
} from '@deepseek-ai/dsh-fs'
import z from '@deepseek-ai/schemastery'
import { ENGINE, type EngineBacking } from './backing.ts'
import { withCancellation } from './cancel.ts'
import { createFsError } from './errors.ts'
import { directoryEntries } from './listing.ts'
import { Cancellation, type Confinement, LocalFs, type TextStream } from './native.ts'

/** Configuration of the provider. */
export interface Config {
  /** Base of relative paths; no containment. Default: the process's working directory when the module was loaded. */
  cwd?: string
  /** Exclusive limit, in UTF-8 bytes, of both sides of an overwrite's diff. Default: 10 MiB. */
  diffBasisMaxBytes?: number
}

const START_DIRECTORY = process.cwd()
const DIFF_BASIS_MOST = Math.min(constants.MAX_LENGTH, constants.MAX_STRING_LENGTH)

/** Files of this machine for everything in the harness that calls `ctx.fs`. */
export class NativeFileSystem extends FileSystem {
  static Config: z<Config> = z.object({
    cwd: z.string().default(START_DIRECTORY),
    diffBasisMaxBytes: z.number().default(10 * 1024 * 1024),
  })

  /** The configuration, with its defaults. */
  readonly config: Required<Config>
  /** The native engine behind this provider. */
  readonly engine: LocalFs

  constructor(ctx: Context, config: Config) {
    super(ctx)
    const { cwd = START_DIRECTORY, diffBasisMaxBytes = 10 * 1024 * 1024 } = config
    if (!Number.isSafeInteger(diffBasisMaxBytes) || diffBasisMaxBytes <= 0 || diffBasisMaxBytes > DIFF_BASIS_MOST) {
      throw new Error(`fs-local: diffBasisMaxBytes must be a positive safe integer no greater than ${DIFF_BASIS_MOST}`)
    }
    this.config = { cwd, diffBasisMaxBytes }
    this.engine = new LocalFs({ cwd, diffBasisMaxBytes, createError: createFsError })
  }

  /** Lets the tools call the engine directly while these methods are this class's own. */
  get [ENGINE](): EngineBacking {
    return { engine: this.engine, methods: OWN_METHODS, confines: false }
  }

  /** Contract: provider §3. */
  async resolve(file: string, opts: { cwd?: string; signal?: AbortSignal } = {}): Promise<FsTarget> {
    return withCancellation(opts.signal, (cancel) => this.engine.resolve(file, opts.cwd, cancel) as Promise<FsTarget>)
  }

  /** Contract: provider §4. */
  processPath(target: FsTarget): string {
    return target.targetKey
  }

  /** Contract: provider §4. */
  fileUrl(target: FsTarget): string {
    return pathToFileURL(target.targetKey).href
  }

  /** Contract: provider §4. */
  contains(parent: FsTarget, child: FsTarget): boolean {
    const way = path.relative(parent.targetKey, child.targetKey)
    return way === '' || !(way === '..' || way.startsWith(`..${path.sep}`) || path.isAbsolute(way))
  }

  /** Contract: provider §5. */
  async stat(target: FsTarget, signal?: AbortSignal): Promise<FsInfo | undefined> {
    const info = await withCancellation(signal, (cancel) => this.engine.stat(target, cancel))
    return (info ?? undefined) as FsInfo | undefined
  }

  /** Contract: provider §5. */
  async lstat(file: string, opts: { cwd?: string } = {}, signal?: AbortSignal): Promise<FsPathInfo | undefined> {
    const info = await withCancellation(signal, (cancel) => this.engine.lstat(file, opts.cwd, cancel))
    return (info ?? undefined) as FsPathInfo | undefined
  }

  /** Contract: provider §6. */
  async readText(target: FsTarget, signal?: AbortSignal): Promise<string> {
    return withCancellation(signal, (cancel) => this.engine.readText(target, cancel))
  }

  /** Contract: provider §6. Nothing is looked at before the first chunk is asked for. */
  async streamText(target: FsTarget, signal?: AbortSignal): Promise<AsyncIterable<string>> {
    return textChunks(this.engine, target, signal)
  }

  /** Contract: provider §6. */
  async readBytes(target: FsTarget, signal: AbortSignal | undefined, maxBytes: number): Promise<Uint8Array> {
    return withCancellation(signal, (cancel) => this.engine.readBytes(target, maxBytes, cancel))
  }

  /** Contract: provider §7. */
  async listDir(target: FsTarget, signal?: AbortSignal): Promise<FsDirEntry[]> {
    return withCancellation(signal, async (cancel) => {
      return directoryEntries(target, await this.engine.listDir(target, cancel), signal)
    })
  }

  /** Contract: provider §9. The sandbox policy is a confining provider's affair. */
  async writeText(target: FsTarget, content: string, expected?: FsWriteIntent, signal?: AbortSignal): Promise<FsWriteOutcome> {
    return this.write(target, content, expected, signal)
  }

  /** Contract: provider §10. */
  async editText(target: FsTarget, edit: FsEditRequest, expected?: { version: FsVersion }, signal?: AbortSignal): Promise<FsEditOutcome> {
    return this.edit(target, edit, expected, signal)
  }

  /** Writes under a confinement; without one, anywhere. */
  protected write(target: FsTarget, content: string, expected?: FsWriteIntent, signal?: AbortSignal, confinement?: Confinement) {
    const write = (cancel: Cancellation | undefined) => this.engine.writeText(target, content, expected, cancel, confinement)
    return withCancellation(signal, write) as Promise<FsWriteOutcome>
  }

  /** Edits under a confinement; without one, anywhere. */
  protected edit(
    target: FsTarget,
    edit: FsEditRequest,
    expected?: { version: FsVersion },
    signal?: AbortSignal,
    confinement?: Confinement,
  ) {
    const change = (cancel: Cancellation | undefined) => this.engine.editText(target, edit, expected, cancel, confinement)
    return withCancellation(signal, change) as Promise<FsEditOutcome>
  }
}

const { resolve, stat, readText, streamText, writeText, editText } = NativeFileSystem.prototype
/** The methods as this class defines them. */
export const OWN_METHODS = { resolve, stat, readText, streamText, writeText, editText }

async function* textChunks(engine: LocalFs, target: FsTarget, signal: AbortSignal | undefined) {
  const cancel = signal && new Cancellation()
  const stop = () => cancel?.cancel()
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })
  const stream = engine.openText(target, cancel)
  // The next pieces are read and converted while the consumer works on these.
  let next = ahead(stream)
  let second = ahead(stream)
  let pieces: string[] | null = []
  try {
    for (pieces = await unlessAborted(next, signal); pieces !== null; pieces = await unlessAborted(next, signal)) {
      next = second
      second = ahead(stream)
      for (const piece of pieces) {
        throwIfAborted(signal)
        yield piece
      }
    }
    // The original's decoder is flushed after the last byte; consumers may rely on a last, empty chunk.
    yield ''
  } finally {
    signal?.removeEventListener('abort', stop)
    if (pieces !== null) await stream.close()
  }
}

/** What was read ahead counts only while nobody has aborted. */
async function unlessAborted<T>(pieces: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const outcome = await pieces.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  throwIfAborted(signal)
  if ('error' in outcome) throw outcome.error
  return outcome.value
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw createFsError('read aborted', 'FS_ABORTED')
}

/** Asks for pieces that may never be awaited: then its failure is nobody's concern. */
function ahead(stream: TextStream): Promise<string[] | null> {
  const pieces = stream.next()
  pieces.catch(() => undefined)
  return pieces
}

export default NativeFileSystem
