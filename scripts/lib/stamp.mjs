/**
 * What a build step was made from and what it made, kept in `.cache/setup`, so that a step is done again only if either changed.
 * @module
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from './process.mjs'

/**
 * All files below the given files and directories of the project that exist, sorted.
 * @param {readonly string[]} places - relative to the project.
 * @returns {string[]} relative to the project, with `/`.
 */
export function filesBelow(places) {
  /** @type {string[]} */
  const found = []
  for (const place of places) {
    const path = join(ROOT, place)
    if (!existsSync(path)) continue
    const entries = readEntries(path)
    if (entries === undefined) found.push(place)
    else found.push(...filesBelow(entries.map((name) => `${place}/${name}`)))
  }
  return found.sort()
}

/** @param {string} path */
function readEntries(path) {
  try {
    return readdirSync(path)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOTDIR') return undefined
    throw error
  }
}

/**
 * A digest of the names and contents of files, and of other facts.
 * @param {readonly string[]} files - relative to the project; a missing one counts as such.
 * @param {readonly string[]} [facts]
 */
export function digest(files, facts = []) {
  const hash = createHash('sha256')
  for (const fact of facts) hash.update(`fact ${fact}\0`)
  for (const file of files) {
    const path = join(ROOT, file)
    const content = existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'missing'
    hash.update(`${file} ${content}\0`)
  }
  return hash.digest('hex')
}

/** @param {string} step */
function stampFile(step) {
  return join(ROOT, '.cache', 'setup', `${step}.json`)
}

/**
 * Whether a step was finished from these inputs and its outputs are still as it left them.
 * @param {string} step
 * @param {string} inputs - their digest.
 */
export function isDone(step, inputs) {
  try {
    const stamp = JSON.parse(readFileSync(stampFile(step), 'utf8'))
    return stamp.inputs === inputs && stamp.outputs === digest(stamp.files)
  } catch {
    // No stamp, or a half-written one: the step is not done.
    return false
  }
}

/** To be called before a step begins: what an interrupted step leaves is not taken as done. @param {string} step */
export function forget(step) {
  rmSync(stampFile(step), { force: true })
}

/**
 * To be called when a step has ended well.
 * @param {string} step
 * @param {string} inputs - their digest as it was before the step.
 * @param {readonly string[]} files - the outputs, relative to the project.
 */
export function remember(step, inputs, files) {
  mkdirSync(dirname(stampFile(step)), { recursive: true })
  writeFileSync(stampFile(step), JSON.stringify({ inputs, outputs: digest(files), files }))
}
