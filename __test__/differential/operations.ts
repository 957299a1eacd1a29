/**
 * The vocabulary of a sequence: plain data, so that a failing sequence can be shrunk, printed and replayed.
 * Paths may hold `<D>`, the root of the tree a world plays on; relative paths of changes start at `<D>/in/work`.
 */
import type { SandboxMode } from '@deepseek-ai/dsh-sandbox'
import type { ApprovalOutcome } from '@deepseek-ai/dsh-user-approval'

/** One piece of a text: characters, characters repeated, or raw bytes (for content that is not UTF-8). */
export type Piece = string | { repeat: string; times: number } | { hex: string }
/** A text as a recipe, which stays short and can be shrunk piece by piece. */
export type Text = readonly Piece[]

/** A change made behind the harness's back. */
export type Change =
  | { do: 'write' | 'append' | 'replace'; path: string; text: Text }
  | { do: 'truncate'; path: string; size: number }
  | { do: 'remove' | 'mkdir' | 'touch' | 'fifo'; path: string }
  | { do: 'rename' | 'symlink' | 'link'; path: string; to: string }
  | { do: 'chmod'; path: string; mode: number }

/** What a listener or an overridden provider method does in the middle of a call. */
export type Act =
  | { do: 'abort' }
  | { do: 'throw'; error: 'FS_NOT_OBSERVED' | 'FS_STALE_VERSION' | 'plain' | 'string' }
  | { do: 'change'; change: Change }
  | { do: 'decide'; decision: 'none' | 'absent' | 'bogus' }

/** Where in a call the act happens. `call:` points exist only in compositions with a watched provider. */
export type HookPoint = 'fs/write-intent' | 'fs/edit-intent' | 'fs/observed' | `call:${ProviderMethod}`

export interface Hook {
  at: HookPoint
  /** For intents: before or after the decision of the next listener. */
  when: 'before' | 'after'
  act: Act
}

/**
 * The agents of a world: they differ in session object and session cwd. The last three are drawn under confinement only:
 * a link to the workspace, a directory beside it, and one that does not exist.
 */
export const AGENTS = ['main', 'twin', 'sub', 'link', 'dots', 'bare', 'none', 'via', 'beside', 'gone'] as const
export type AgentName = (typeof AGENTS)[number]

/** Text to look for in an edit: given, or cut out of the file as it is when the operation is played. */
export type Needle = { text: Text } | { cut: number; length: number; form: 'shown' | 'raw' | 'half' }
/** Text to put in its place: given, or derived from the text looked for. */
export type Replacement = { text: Text } | { derive: 'upper' | 'longer' | 'breaks' | 'same' }

/** A tool argument: JSON as it is, or one of the recipes above under a marked key. */
export type Argument =
  | null
  | boolean
  | number
  | string
  | Argument[]
  | { json: Record<string, Argument> }
  | { text: Text }
  | { needle: Needle }
  | { replacement: Replacement }

/** What comes of a question for approval: an answer, nobody who gives one, an error, or an abort while it is open. */
export type Answer = ApprovalOutcome | 'pass' | 'throw' | 'abort'

/** What writes are confined to: the default of a deployment, or the policy of one call. */
export interface Confinement {
  mode: SandboxMode
  root: string
}

export interface ToolOperation {
  kind: 'tool'
  tool: string
  agent: AgentName
  args: Record<string, Argument> | { notObject: Argument }
  signal?: 'before'
  hook?: Hook
  answer?: Answer
}

export const PROVIDER_METHODS = [
  'resolve',
  'processPath',
  'fileUrl',
  'contains',
  'stat',
  'lstat',
  'readText',
  'streamText',
  'readBytes',
  'listDir',
  'writeText',
  'editText',
] as const
export type ProviderMethod = (typeof PROVIDER_METHODS)[number]

/** The guard of a mutation; `fresh` asks for the version just before, `known` takes the last one seen. */
export type Guard = 'none' | 'absent' | 'fresh' | 'known' | 'bogus'

export interface ProviderOperation {
  kind: 'provider'
  method: ProviderMethod
  path: string
  /** Base directory given to resolve or lstat. */
  cwd?: string
  /** Resolved now, a plain copy of that, or the target first resolved for this path in the sequence. */
  target?: 'copy' | 'kept'
  /** The child of `contains`. */
  child?: string
  guard?: Guard
  content?: Text
  needle?: Needle
  replacement?: Replacement
  replaceAll?: boolean
  maxBytes?: number
  /** The policy of a mutation. */
  policy?: Confinement
  /** Aborted before the call, or in the same turn right after it. */
  signal?: 'before' | 'after'
}

export interface QueuedCall {
  method: 'writeText' | 'editText'
  guard: Guard
  /** Content of a write, new text of an edit; lengths differ within a queue. */
  text: string
  old?: string
  policy?: Confinement
  signal?: 'before' | 'after'
}

/** Several mutations of one file at once, issued in one turn: they queue at the lock of the target. */
export interface QueueOperation {
  kind: 'queue'
  path: string
  /** Content given to the file first, by an outside write; without it the file keeps what it has or lacks. */
  initial?: string
  calls: QueuedCall[]
}

/** Several reads at once through the tool. */
export interface ParallelOperation {
  kind: 'parallel'
  calls: ToolOperation[]
}

export interface ChangeOperation {
  kind: 'change'
  change: Change
}

/** The policy plugin is unloaded and, for `reload`, loaded again. */
export interface PolicyOperation {
  kind: 'policy'
  action: 'unload' | 'reload'
}

/** The mode of an agent's session is switched. */
export interface ModeOperation {
  kind: 'mode'
  agent: AgentName
  mode: SandboxMode
}

export type Operation =
  | ToolOperation
  | ProviderOperation
  | QueueOperation
  | ParallelOperation
  | ChangeOperation
  | PolicyOperation
  | ModeOperation

/** Limits of the tools plugin and the provider that a sequence plays under; absent keys keep the defaults. */
export interface Settings {
  readLimit?: number
  readMaxLineLength?: number
  readMaxBytes?: number
  readStreamMinSize?: number
  diffBasisMaxBytes?: number
  policy: boolean
  /** The provider confines, by this default; `approval` says whether there is a service to ask for more. */
  sandbox?: Confinement & { approval: boolean }
}

export interface Sequence {
  settings: Settings
  /** The tree, built by changes from an empty `<D>/in/work`. */
  setup: Change[]
  operations: Operation[]
}
