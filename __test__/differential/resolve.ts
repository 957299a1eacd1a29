/** Operations with their texts worked out against the tree as it is when they are played. */
import fs from 'node:fs'
import type { Argument, Confinement, Needle, ProviderOperation, Replacement, ToolOperation } from './operations.ts'
import { textString } from './text.ts'
import { baseDirectory, lexicalPath } from './world.ts'

/** A tool call with plain JSON arguments; `<D>` stands in `file_path` only. */
export interface ToolCall extends Omit<ToolOperation, 'args'> {
  args: unknown
}

/** A provider call with its strings. */
export interface ProviderCall extends Omit<ProviderOperation, 'content' | 'needle' | 'replacement'> {
  content?: string
  oldString?: string
  newString?: string
}

function fileText(file: string): string {
  try {
    return fs.statSync(file).isFile() ? new TextDecoder().decode(fs.readFileSync(file)) : ''
  } catch {
    return ''
  }
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

function wholeCharacters(text: string): string {
  const from = isLow(text.charCodeAt(0)) ? 1 : 0
  const to = isHigh(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length
  return text.slice(from, to)
}

function needleText(needle: Needle, file: string): string {
  if ('text' in needle) return textString(needle.text)
  const raw = fileText(file)
  const text = needle.form === 'raw' ? raw : raw.replaceAll('\r\n', '\n')
  const start = Math.floor(needle.cut * text.length)
  const piece = text.slice(start, start + needle.length)
  const cut = needle.form === 'half' ? piece : wholeCharacters(piece)
  return cut === '' ? 'alpha' : cut
}

function replacementText(replacement: Replacement, old: string): string {
  if ('text' in replacement) return textString(replacement.text)
  switch (replacement.derive) {
    case 'upper':
      return old.toUpperCase()
    case 'longer':
      return `${old}+`
    case 'breaks':
      return old.includes('\r\n') ? old.replaceAll('\r\n', '\n') : old.replaceAll('\n', '\r\n')
    case 'same':
      return old
  }
}

function argumentValue(argument: Argument, file: string, old: string): unknown {
  if (typeof argument !== 'object' || argument === null) return argument
  if (Array.isArray(argument)) return argument.map((item) => argumentValue(item, file, old))
  if ('text' in argument) return textString(argument.text)
  if ('needle' in argument) return needleText(argument.needle, file)
  if ('replacement' in argument) return replacementText(argument.replacement, old)
  return Object.fromEntries(Object.entries(argument.json).map(([key, item]) => [key, argumentValue(item, file, old)]))
}

/**
 * @param root of the world whose files the needles are cut from.
 * @param sandbox of the world.
 */
export function resolveTool(operation: ToolOperation, root: string, sandbox?: Confinement): ToolCall {
  const { args } = operation
  if ('notObject' in args) return { ...operation, args: argumentValue(args.notObject as Argument, '', '') }
  const file = pathOf(args.file_path, baseDirectory(root, operation.agent, sandbox), root)
  const old = args.old_string === undefined ? '' : argumentValue(args.old_string, file, '')
  const values = Object.entries(args).map(([key, argument]) => [key, argumentValue(argument, file, String(old))])
  return { ...operation, args: Object.fromEntries(values) }
}

function pathOf(argument: Argument | undefined, base: string, root: string): string {
  return typeof argument === 'string' ? lexicalPath(root, base, argument) : ''
}

/** @param root of the world whose files the needles are cut from. */
export function resolveProvider(operation: ProviderOperation, root: string): ProviderCall {
  const { content, needle, replacement, ...call } = operation
  const file = lexicalPath(root, `${root}/in/work`, operation.path)
  const oldString = needle === undefined ? undefined : needleText(needle, file)
  return {
    ...call,
    ...(content === undefined ? {} : { content: textString(content) }),
    ...(oldString === undefined ? {} : { oldString }),
    ...(replacement === undefined ? {} : { newString: replacementText(replacement, oldString ?? '') }),
  }
}
