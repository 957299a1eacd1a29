/**
 * `npm start`: the set-up, then a session in the real harness on a copy of `sample/`.
 * `npm start -- DIR`: the set-up, then the read-only part of it on a directory of the user's.
 * @module
 */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { SetupError } from './lib/process.mjs'
import { runCommand } from './setup.mjs'
import { runProgram } from './with-setup.mjs'

const USAGE = `npm start           a session on a throw-away copy of the sample workspace
npm start -- DIR    list a directory of yours and read some of its text files; nothing is changed`

/**
 * The directory that the user named, or undefined if none. Throws a SetupError if it is not one.
 * @param {readonly string[]} args
 */
function directoryOf(args) {
  const [given, ...more] = args
  if (given === undefined) return undefined
  if (more.length > 0)
    throw new SetupError(`One directory, please; these are ${args.length} arguments. (A name with blanks needs quotes.)\n\n${USAGE}`)
  // npm changes to the project's directory; the name is meant from where the user is.
  const path = resolve(process.env['INIT_CWD'] ?? '.', given)
  const info = look(path)
  if (!info) throw new SetupError(`There is no "${path}".\n\n${USAGE}`)
  if (!info.isDirectory()) throw new SetupError(`"${path}" is not a directory.\n\n${USAGE}`)
  return path
}

/** @param {string} path */
function look(path) {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw new SetupError(`"${path}" cannot be looked at: ${/** @type {Error} */ (error).message}`)
  }
}

await runCommand(async () => {
  const args = process.argv.slice(2)
  if (args.includes('--help') || args.includes('-h')) {
    console.log(USAGE)
    return 0
  }
  const directory = directoryOf(args)
  return runProgram('scripts/session/main.ts', directory === undefined ? [] : [directory])
})
