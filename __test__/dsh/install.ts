/**
 * The published `dsh` command, installed once into the project's cache directory. The lockfile beside this module fixes
 * every version: the command's own ranges admit releases that break it.
 */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CACHE, makeDirectory } from './place.ts'
import { runWell } from './processes.ts'

export const DSH_VERSION = '0.1.0-rc.8'
const PNPM_VERSION = '10.34.9'
const INSTALL_MS = 15 * 60_000

const SOURCE = fileURLToPath(new URL('./installation', import.meta.url))

export interface Installation {
  /** The directory whose `node_modules` holds the command. */
  directory: string
  /** The script to run with Node. */
  dsh: string
  /** A PATH on which `node` is the Node of this test run and `pnpm` the pinned one. */
  path: string
  /** pnpm's store, so that nothing lands in the user's. */
  store: string
}

/** What an installation was made from; one made from something else is made anew. */
function fingerprint(): string {
  const hash = createHash('sha256').update(`pnpm ${PNPM_VERSION}\n`)
  for (const name of readdirSync(SOURCE).sort()) hash.update(name).update(readFileSync(join(SOURCE, name)))
  return hash.digest('hex')
}

function isComplete(root: string, expected: string): boolean {
  const stamp = join(root, 'complete')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === expected
}

function at(root: string): Installation {
  const directory = join(root, 'app')
  return {
    directory,
    dsh: join(directory, 'node_modules', '@deepseek-ai', 'dsh', 'lib', 'bin.js'),
    path: [dirname(process.execPath), join(root, 'pnpm', 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter),
    store: join(root, 'store'),
  }
}

async function install(root: string, onOutput: (text: string) => void): Promise<void> {
  const { directory, path, store } = at(root)
  const pnpm = join(root, 'pnpm')
  mkdirSync(pnpm, { recursive: true })
  writeFileSync(join(pnpm, 'package.json'), '{"private":true}\n')
  const options = { env: { ...process.env, PATH: path }, timeoutMs: INSTALL_MS, onOutput }
  await runWell('npm', ['install', '--no-audit', '--no-fund', `pnpm@${PNPM_VERSION}`], { ...options, cwd: pnpm })
  cpSync(SOURCE, directory, { recursive: true })
  const script = join(pnpm, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs')
  const args = ['install', '--frozen-lockfile', '--ignore-scripts', '--reporter=append-only', `--store-dir=${store}`]
  await runWell(process.execPath, [script, ...args], { ...options, cwd: directory })
}

/**
 * The installation in the cache directory, made now if it is not there. Two runs at once each make their own; the
 * first one to finish stays.
 * @param progress told what happens; the first installation takes from seconds to minutes.
 */
export async function installDsh(progress: (text: string) => void): Promise<Installation> {
  const root = join(CACHE, `dsh-${DSH_VERSION}`)
  const expected = fingerprint()
  if (isComplete(root, expected)) return at(root)
  progress(`installing dsh ${DSH_VERSION} with pnpm ${PNPM_VERSION} into ${root}`)
  const staging = makeDirectory(CACHE)
  try {
    await install(staging, (text) => {
      for (const line of text.split('\n')) if (/^(Progress|Done|added)/.test(line)) progress(line.trim())
    })
    writeFileSync(join(staging, 'complete'), expected)
    if (!isComplete(root, expected)) {
      rmSync(root, { recursive: true, force: true })
      renameSync(staging, root)
    }
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  return at(root)
}
