/**
 * `node scripts/with-setup.mjs FILE ARGUMENTS`: the set-up, then a program of the project with the Node that it found.
 * @module
 */
import { run, SetupError } from './lib/process.mjs'
import { runCommand, setup } from './setup.mjs'

/**
 * Runs a JavaScript or TypeScript file of the project after the set-up.
 * @param {string} file - relative to the project.
 * @param {readonly string[]} args
 * @returns {Promise<number>} its exit code.
 */
export async function runProgram(file, args) {
  const { node, env } = await setup()
  // Node 22 runs TypeScript too, with a warning that would stand above everything else.
  const { code } = await run(node, ['--disable-warning=ExperimentalWarning', file, ...args], { env, show: true })
  return code
}

if (import.meta.filename === process.argv[1]) {
  const [file, ...args] = process.argv.slice(2)
  await runCommand(async () => {
    if (!file) throw new SetupError('Which program? node scripts/with-setup.mjs FILE [ARGUMENTS]')
    return runProgram(file, args)
  })
}
