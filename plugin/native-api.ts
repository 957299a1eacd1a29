// The declarations of the addon, by hand, until the build generates index.d.ts with the same content.

/** A resolved path: `targetKey` is the identity (opaque), `displayPath` what people and models read. */
export interface Target {
  targetKey: string
  displayPath: string
}

/** What a guarded write may do; none at all means an unconditional write. */
export type WriteIntent = { kind: 'createIfAbsent' } | { kind: 'replaceIfVersion'; version: string }

/** What a tool has seen of a target. */
export type Observation = { kind: 'present'; version: string } | { kind: 'absent' }

/** A failed system call: errno name, errno number, call, and the text of the system. */
export interface SystemCause {
  code: string
  errno: number
  syscall: string
  message: string
}

/** Makes the error object with which a native call rejects. */
export type CreateError = (message: string, code: string, cause: SystemCause | undefined) => Error

/** Cancels one native call. */
export declare class Cancellation {
  constructor()
  cancel(): void
}

/** The local filesystem engine. */
export declare class LocalFs {
  constructor(options: { cwd: string; diffBasisMaxBytes: number; createError: CreateError })
}

/** A filesystem in JavaScript, as the executors call it. Every function returns a promise. */
export interface ProviderCallbacks {
  resolve(path: string, cwd: string | undefined): Promise<Target>
  stat(target: Target): Promise<{ version: string; type: string; size?: number } | undefined>
  readText(target: Target): Promise<string>
  /** Opens the stream of a text; one at a time. */
  openText(target: Target): Promise<void>
  /** The next chunk, null at the end. */
  nextText(): Promise<string | null>
  /** Ends the stream early. */
  closeText(): Promise<void>
  writeText(
    target: Target,
    content: string,
    intent: WriteIntent | undefined,
  ): Promise<{ operation: string; version: string; before: string | null; after: string }>
  editText(
    target: Target,
    edit: { oldString: string; newString: string; replaceAll: boolean },
    guard: { version: string } | undefined,
  ): Promise<{ version: string; before: string; after: string }>
}

export interface ReadRequest {
  path: string
  cwd: string | undefined
  offset: number | undefined
  limit: number | undefined
  readLimit: number
  readMaxLineLength: number
  readMaxBytes: number
  readStreamMinSize: number
}

export interface ReadHooks {
  createError: CreateError
  observed(target: Target, observation: Observation): void
}

/** The selected lines: `lineCount` of them, joined by newlines in `text`. */
export interface ReadOutcome {
  path: string
  offset: number
  totalLines: number
  lineCount: number
  text: string
}

export declare function executeRead(
  provider: LocalFs | ProviderCallbacks,
  request: ReadRequest,
  hooks: ReadHooks,
  cancel?: Cancellation,
): Promise<ReadOutcome>

export interface MutationHooks {
  createError: CreateError
  /** Runs after the argument checks; yields the base directory that replaces the request's. */
  authorize?: () => Promise<string | undefined>
  observed(target: Target, observation: Observation): void
  /** Maps an error of the mutation step. */
  explain(error: unknown): unknown
}

export interface WriteHooks extends MutationHooks {
  writeIntent(target: Target): Promise<WriteIntent | undefined>
}

export interface EditHooks extends MutationHooks {
  editIntent(target: Target): Promise<{ version: string } | undefined>
}

/** `hunks`: five numbers a hunk (oldStart, oldEnd, newStart, newEnd, hasOld), UTF-16 offsets into `before` and `after`. */
export interface WriteOutcome {
  path: string
  operation: 'create' | 'update'
  before: string | null
  after: string
  hunks: Float64Array
}

export interface EditOutcome {
  path: string
  before: string
  after: string
  hunks: Float64Array
}

export declare function executeWrite(
  provider: LocalFs | ProviderCallbacks,
  request: { path: string; cwd: string | undefined; content: string },
  hooks: WriteHooks,
  cancel?: Cancellation,
): Promise<WriteOutcome>

export declare function executeEdit(
  provider: LocalFs | ProviderCallbacks,
  request: { path: string; cwd: string | undefined; oldString: string; newString: string; replaceAll: boolean },
  hooks: EditHooks,
  cancel?: Cancellation,
): Promise<EditOutcome>

/** The bounded line diff, synchronously. */
export declare function diffHunks(before: string, after: string): Float64Array
