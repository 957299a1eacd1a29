/** D18: system errors that the original lets through raw are typed. */
import fs from 'node:fs'
import path from 'node:path'
import type { Case } from './case.ts'
import type { Settings } from './operations.ts'
import { at, type PlainObject, plainText } from './plain.ts'
import type { ToolCall } from './resolve.ts'
import { baseDirectory, lexicalPath } from './world.ts'

/** The code the decision assigns to an error name. */
function codeFor(errno: string): string {
  if (errno === 'EACCES' || errno === 'EPERM') return 'FS_PERMISSION_DENIED'
  return errno === 'ENOENT' || errno === 'ENOTDIR' ? 'FS_NOT_FOUND' : 'FS_IO_ERROR'
}

/** What the original's error says about the system error behind it; NUL bytes are refused by Node itself. */
function errnoOf(message: string): string | undefined {
  if (message.includes('without null bytes')) return 'ERR_INVALID_ARG_VALUE'
  return /^(E[A-Z0-9]+): /.exec(message)?.[1]
}

/** @returns whether a message has the form `cannot <verb> "<p>": <reason>` for one of the verbs and paths. */
export function hasForm(message: string, verbs: readonly string[], paths: readonly string[]): boolean {
  for (const verb of verbs) {
    for (const shown of paths) {
      const start = `cannot ${verb} "${shown}": `
      if (!message.startsWith(start)) continue
      const reason = message.slice(start.length)
      // The staging path is an internal of the provider, which the decision keeps out of messages.
      return reason.trim() !== '' && !reason.includes('tmpdir')
    }
  }
  return false
}

/** The display paths a tool call may name; a cwd with `..` in play is taken canonically. */
function toolPaths(one: Case, call: ToolCall): string[] {
  const name = String((call.args as { file_path?: unknown }).file_path)
  const bases = [baseDirectory(one.root, call.agent), baseDirectory(one.root, call.agent, one.settings.sandbox)]
  for (const base of [...bases]) {
    try {
      bases.push(fs.realpathSync.native(base))
    } catch {
      // A cwd that does not exist stays as it is spelled.
    }
  }
  return bases.map((directory) => plainText(lexicalPath(one.root, directory, name), one.root))
}

const TOOL_VERBS: Record<string, readonly string[]> = {
  read: ['resolve', 'stat', 'read'],
  write: ['resolve', 'write'],
  edit: ['resolve', 'edit'],
}

function typedToolError(one: Case, call: ToolCall): boolean {
  const expected = at(one.expected, 'outcome') as PlainObject
  const message = at(expected, 'error', 'message')
  const ours = at(one.actual, 'outcome', 'error', 'message')
  if (typeof message !== 'string' || typeof ours !== 'string' || at(expected, 'error', 'info') !== undefined) return false
  const errno = errnoOf(message)
  if (errno === undefined) return false
  if (!hasForm(ours, TOOL_VERBS[call.tool] ?? [], toolPaths(one, call))) {
    one.problems.push(`D18: ${JSON.stringify(ours)} has not the form of a typed system error`)
    return false
  }
  expected.error = { message: ours, info: { name: 'FsError', code: codeFor(errno) } }
  expected.content = [{ type: 'text', text: `Error: ${ours}` }]
  return true
}

const METHOD_VERBS: Record<string, string> = {
  writeText: 'write',
  editText: 'edit',
  stat: 'stat',
  lstat: 'stat',
  resolve: 'resolve',
  contains: 'resolve',
  readText: 'read',
  streamText: 'read',
  readBytes: 'read',
  listDir: 'list',
}

/** The listing types its errors already; only the reason, there the system's whole message, may differ. */
function retypedListing(expected: PlainObject, ours: PlainObject): boolean {
  const form = /^(cannot list "[^"]*": )(E[A-Z]+): /.exec(String(expected.message))
  if (form === null || ours.code !== 'FS_IO_ERROR' || ours.cause !== form[2] || ours.message === expected.message) return false
  const start = form[1]!
  const reason = String(ours.message).slice(start.length)
  if (!String(ours.message).startsWith(start) || reason === '') return false
  expected.message = ours.message!
  return true
}

function typedProviderError(
  one: Case,
  expected: PlainObject,
  ours: PlainObject,
  verbs: readonly string[],
  paths: readonly string[],
): boolean {
  if (expected.class === 'FsError') return verbs.includes('list') && retypedListing(expected, ours)
  const errno = errnoOf(String(expected.message))
  if (errno === undefined || expected.class !== 'Error') return false
  if (!hasForm(String(ours.message), verbs, paths)) {
    one.problems.push(`D18: ${JSON.stringify(ours.message)} has not the form of a typed system error`)
    return false
  }
  // That a parent is a file is an answer (there is no such file) rather than a failure of the system.
  const untold = errno === 'ERR_INVALID_ARG_VALUE' || (errno === 'ENOTDIR' && ours.cause === 'none')
  const cause = untold ? ours.cause! : errno
  Object.assign(expected, { class: 'FsError', name: 'FsError', code: codeFor(errno), message: ours.message, cause })
  return true
}

/** The verbs that the error of a call may have: two have the same meaning, and a confined mutation resolves its target first. */
function verbsOf(verb: string, settings: Settings): string[] {
  if (verb === 'stat') return ['stat', 'lstat']
  return settings.sandbox !== undefined && (verb === 'write' || verb === 'edit') ? [verb, 'resolve'] : [verb]
}

/** Rewrites raw system errors of the original into the typed ones of the decision, where ours has their form. */
export function typedErrors(one: Case): boolean {
  const { call, expected, actual } = one
  if (call.kind === 'tool') return typedToolError(one, call)
  const shown = (name: string, base = `${one.root}/in/work`) => plainText(lexicalPath(one.root, base, name), one.root)
  const cwd = call.kind === 'provider' ? call.cwd : undefined
  const base = cwd === undefined ? undefined : path.resolve(cwd.replaceAll('<D>', one.root))
  const paths = [shown(call.path, base), ...(call.kind === 'provider' && call.child !== undefined ? [shown(call.child)] : [])]
  if (call.kind === 'queue' && expected.stage === 'call') {
    return call.calls
      .map((queued, index) => {
        const theirs = at(expected, 'calls', index, 'error') as PlainObject | undefined
        const ours = at(actual, 'calls', index, 'error') as PlainObject | undefined
        return theirs !== undefined && ours !== undefined && typedProviderError(one, theirs, ours, [METHOD_VERBS[queued.method]!], paths)
      })
      .some((used) => used)
  }
  const theirs = expected.error as PlainObject | undefined
  const ours = actual.error as PlainObject | undefined
  if (theirs === undefined || ours === undefined) return false
  const verb = expected.stage === 'resolve' || call.kind === 'queue' ? 'resolve' : METHOD_VERBS[call.method]!
  return typedProviderError(one, theirs, ours, verbsOf(verb, one.settings), paths)
}
