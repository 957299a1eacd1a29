/**
 * Child processes of the set-up and the commands.
 * @module
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The top directory of the project. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A failure that needs no stack trace: its message says what to do. */
export class SetupError extends Error {}

/**
 * Runs a program with no standard input and waits for its end.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, show?: boolean, input?: boolean }} [options]
 *   `show`: its output goes to ours (default: it is kept). `input`: it may read our standard input.
 * @returns {Promise<{ code: number, output: string }>} a death by signal has a code of 128 and more; `output` is what was kept.
 * Rejects with the system's error if the program cannot be started.
 */
export function run(program, args, { cwd = ROOT, env = process.env, show = false, input = false } = {}) {
  const pipe = show ? 'inherit' : 'pipe'
  const child = spawn(program, args, { cwd, env, stdio: [input ? 'inherit' : 'ignore', pipe, pipe], windowsHide: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code: code ?? (signal === 'SIGINT' ? 130 : 128), output }))
  })
}

/**
 * The file behind a command of an installed package, to be run with Node.
 * @param {string} packageName
 * @param {string} command
 */
export function commandFile(packageName, command) {
  const folder = join(ROOT, 'node_modules', packageName)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, typeof bin === 'string' ? bin : bin[command])
}

/** npm's own program, to be run with Node: the one that runs us, else the one on the PATH. */
export function npmFile() {
  const running = process.env['npm_execpath']
  if (running && basename(running) === 'npm-cli.js') return running
  const folders = [dirname(process.execPath), ...(process.env['PATH'] ?? '').split(delimiter)]
  for (const folder of folders) {
    const bundled = join(folder, 'node_modules', 'npm', 'bin', 'npm-cli.js')
    if (existsSync(bundled)) return bundled
    const link = join(folder, 'npm')
    if (existsSync(link) && basename(realpathSync(link)) === 'npm-cli.js') return realpathSync(link)
  }
  throw new SetupError('npm was not found. Install it, or start this command with it: npm start, npm test.')
}

/**
 * The environment in which `node` means the given Node, also for programs that start it by name.
 * @param {string} node - path of the program.
 * @returns {NodeJS.ProcessEnv}
 */
export function environmentFor(node) {
  const env = { ...process.env }
  // Windows spells it Path; a second spelling would win or lose by chance.
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  env[key] = [dirname(node), env[key]].filter(Boolean).join(delimiter)
  return env
}
