/**
 * Brings a checkout to the point where the package runs: a Node that will do, the npm packages, the native addon, the plugins.
 * Runs on Node 20 and does only what is not up to date. `node scripts/setup.mjs` does this and nothing else.
 * @module
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { alone } from './lib/lock.mjs'
import { suitableNode } from './lib/node.mjs'
import { commandFile, environmentFor, npmFile, ROOT, run, SetupError } from './lib/process.mjs'
import { digest, filesBelow, forget, isDone, remember } from './lib/stamp.mjs'

/**
 * @typedef {object} Ready
 * @property {string} node - path of the Node to run with.
 * @property {string} version - its version.
 * @property {NodeJS.ProcessEnv} env - an environment in which `node` means that one.
 */

/**
 * Does the whole set-up, with a line for each step.
 * @returns {Promise<Ready>} Rejects with a SetupError whose message says what to do.
 */
export function setup() {
  return alone(async () => {
    /** @type {Ready | undefined} */
    let ready
    await step('node', async () => {
      const { path, version, brought } = await suitableNode()
      ready = { node: path, version, env: environmentFor(path) }
      return brought ? `${version}, brought from npm` : version
    })
    if (!ready) throw new Error('no Node after the step that finds one')
    const done = ready
    await step('packages', () => installPackages(done))
    await step('addon', () => buildAddon(done))
    await step('plugins', () => buildPlugins(done))
    return done
  })
}

/** @param {string} name @param {() => Promise<string>} work - returns what to say of the step. */
async function step(name, work) {
  const start = performance.now()
  const said = await work()
  const seconds = (performance.now() - start) / 1000
  console.log(`set-up   ${name.padEnd(10)}${said}${seconds < 0.5 ? '' : ` (${seconds.toFixed(1)} s)`}`)
}

/** @param {Ready} ready */
async function installPackages({ node, env }) {
  if (packagesAreInstalled()) return 'up to date'
  const args = [npmFile(), 'ci', '--include=dev', '--no-audit', '--no-fund']
  const { code, output } = await run(node, args, { env })
  if (code !== 0) throw new SetupError(`npm ci failed:\n${output}`)
  return 'installed'
}

/** npm writes node_modules/.package-lock.json last; it lists what is there. Optional packages of other platforms are left out of it. */
function packagesAreInstalled() {
  const installedFile = join(ROOT, 'node_modules', '.package-lock.json')
  if (!existsSync(installedFile)) return false
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages
  const names = new Set([...Object.keys(wanted), ...Object.keys(installed)].filter((name) => name !== ''))
  return [...names].every((name) => {
    const want = wanted[name]
    const have = installed[name]
    if (!have) return want.optional === true || want.devOptional === true
    return want?.version === have.version && want?.integrity === have.integrity
  })
}

/** @param {Ready} ready */
async function buildAddon({ node, env }) {
  const compiler = await rustVersion()
  const { version: cli } = JSON.parse(readFileSync(join(ROOT, 'node_modules', '@napi-rs', 'cli', 'package.json'), 'utf8'))
  const { napi } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const sources = filesBelow(['src', 'Cargo.toml', 'Cargo.lock', 'build.rs', '.cargo'])
  const inputs = digest(sources, [compiler, cli, JSON.stringify(napi), process.platform, process.arch])
  if (isDone('addon', inputs)) return 'up to date'
  forget('addon')
  console.log('set-up   addon     building (the first time takes a minute or two) …')
  const args = [commandFile('@napi-rs/cli', 'napi'), 'build', '--platform', '--release', '--esm']
  const { code } = await run(node, args, { env, show: true })
  if (code !== 0) throw new SetupError('The native addon could not be built; the reason is above.')
  const binaries = readdirSync(ROOT).filter((name) => name.endsWith('.node'))
  remember('addon', inputs, ['index.js', 'index.d.ts', ...binaries])
  return 'built'
}

/** The compiler's own description of itself. Throws a SetupError if there is none or it is too old. */
async function rustVersion() {
  const [, least = ''] = /^rust-version = "([^"]+)"/m.exec(readFileSync(join(ROOT, 'Cargo.toml'), 'utf8')) ?? []
  const advice = `Rust ${least} or later is needed to build the native addon: install it with https://rustup.rs`
  /** @type {{ code: number, output: string }} */
  let answer
  try {
    await run('cargo', ['--version'])
    answer = await run('rustc', ['--version', '--verbose'])
  } catch {
    throw new SetupError(`cargo was not found. ${advice}, then open a new terminal.`)
  }
  const [, version] = /^release: (\S+)/m.exec(answer.output) ?? []
  if (answer.code !== 0 || !version) throw new SetupError(`rustc does not run. ${advice}.\n${answer.output}`)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number)
  if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
    throw new SetupError(`This is Rust ${version}. ${advice}, or bring it up to date: rustup update`)
  }
  return answer.output
}

/** @param {Ready} ready */
async function buildPlugins({ node, env }) {
  const sources = filesBelow(['plugin', 'tsconfig.json', 'tsconfig.build.json', 'index.d.ts', 'package-lock.json'])
  const inputs = digest(sources)
  if (isDone('plugins', inputs)) return 'up to date'
  forget('plugins')
  // Built aside and moved into place, so that nothing of a removed source remains and no one meets half a build.
  const fresh = join(ROOT, '.cache', 'setup', 'dist')
  rmSync(fresh, { recursive: true, force: true })
  const args = [commandFile('typescript', 'tsc'), '-p', 'tsconfig.build.json', '--outDir', fresh]
  const { code, output } = await run(node, args, { env })
  if (code !== 0) throw new SetupError(`The plugins could not be compiled:\n${output}`)
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true })
  renameSync(fresh, join(ROOT, 'dist'))
  remember('plugins', inputs, filesBelow(['dist']))
  return 'built'
}

/**
 * Runs the main function of a command; a SetupError becomes a plain message and exit code 1.
 * @param {() => Promise<number>} main - returns the exit code.
 */
export async function runCommand(main) {
  try {
    process.exitCode = await main()
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    console.error(`\n${error.message}`)
    process.exitCode = 1
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runCommand(async () => {
    await setup()
    return 0
  })
}
