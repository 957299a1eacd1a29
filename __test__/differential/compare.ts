/** Comparison of two plain values, with a one-to-one relation between the version tokens of the two worlds. */
import { type Plain, Version } from './plain.ts'

export interface Difference {
  /** Where the values differ, as a chain of keys. */
  where: string
  left: string
  right: string
}

/** Which token of one world stands for which of the other: equal here means equal there. */
export class VersionPairs {
  private readonly toRight = new Map<string, string>()
  private readonly toLeft = new Map<string, string>()

  /** Notes that two tokens stand for each other. @returns false if either already stands for another. */
  pair(left: Version, right: Version): boolean {
    if (left.form !== right.form) return false
    if (left.loose && right.loose) return true
    const knownRight = this.toRight.get(left.token)
    const knownLeft = this.toLeft.get(right.token)
    if (knownRight !== undefined || knownLeft !== undefined) return knownRight === right.token && knownLeft === left.token
    this.toRight.set(left.token, right.token)
    this.toLeft.set(right.token, left.token)
    return true
  }
}

function show(value: Plain | undefined): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value, (_key, item: unknown) => (item instanceof Version ? `version ${item.token}` : item)) ?? 'nothing'
  return text.length > 1200 ? `${text.slice(0, 900)} … ${text.slice(-250)}` : text
}

function isObject(value: Plain | undefined): value is { [key: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Version)
}

/** For strings the place of the first difference is more telling than the whole. */
function showTexts(where: string, left: string, right: string): Difference {
  let index = 0
  while (index < left.length && left[index] === right[index]) index++
  const from = Math.max(0, index - 60)
  const cut = (text: string) =>
    text.length > 400 ? `…${JSON.stringify(text.slice(from, index + 200))} (from unit ${from} of ${text.length})` : JSON.stringify(text)
  return { where, left: cut(left), right: cut(right) }
}

/** @returns the first difference between two values, or undefined. */
export function firstDifference(
  left: Plain | undefined,
  right: Plain | undefined,
  pairs: VersionPairs,
  where = '',
): Difference | undefined {
  if (left instanceof Version && right instanceof Version) {
    return pairs.pair(left, right) ? undefined : { where, left: show(left), right: show(right) }
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    for (let i = 0; i < Math.min(left.length, right.length); i++) {
      const found = firstDifference(left[i], right[i], pairs, `${where}[${i}]`)
      if (found !== undefined) return found
    }
    return left.length === right.length ? undefined : { where: `${where}.length`, left: show(left), right: show(right) }
  }
  if (isObject(left) && isObject(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const found = firstDifference(left[key], right[key], pairs, where === '' ? key : `${where}.${key}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (left === right) return undefined
  if (typeof left === 'string' && typeof right === 'string') return showTexts(where, left, right)
  return { where, left: show(left), right: show(right) }
}
