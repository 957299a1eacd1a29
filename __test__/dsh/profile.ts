/** A fresh harness home with one profile, and the `dsh` commands a user gives on it. */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Installation } from './install.ts'
import { type RunResult, run, runWell } from './processes.ts'

/** Nothing listens on the discard port: whatever is sent there is refused at once. */
const REFUSING = 'http://127.0.0.1:9/'
const GUARD = pathToFileURL(fileURLToPath(new URL('./network-guard.mjs', import.meta.url))).href
/** What a process needs of the surrounding environment on any system; the rest is set here, key by key. */
const INHERITED = ['SYSTEMROOT', 'COMSPEC', 'PATHEXT']
const COMMAND_MS = 120_000

/** What the processes of a profile did outside themselves. */
export interface Traces {
  /** `host:port` or a socket path. */
  connections: string[]
  lookups: string[]
  datagrams: string[]
  /** Paths of the native addons they loaded. */
  addons: string[]
}

export class Profile {
  readonly home: string
  readonly directory: string
  private readonly installation: Installation
  private readonly name: string
  private readonly log: string

  /**
   * @param root a directory that does not exist yet and holds all of it.
   * @param name the profile's name, `headless` or `web`.
   */
  constructor(installation: Installation, root: string, name: string) {
    this.installation = installation
    this.name = name
    this.home = join(root, 'dsh')
    this.directory = join(this.home, 'profiles', name)
    this.log = join(root, 'network.log')
    for (const name of ['home', 'tmp', 'dsh']) mkdirSync(join(root, name), { recursive: true })
    writeFileSync(this.log, '')
  }

  private env(extra: Record<string, string>): Record<string, string | undefined> {
    const home = join(this.home, '..', 'home')
    const temporary = join(this.home, '..', 'tmp')
    return {
      ...Object.fromEntries(INHERITED.map((name) => [name, process.env[name]])),
      PATH: this.installation.path,
      HOME: home,
      USERPROFILE: home,
      TMPDIR: temporary,
      TEMP: temporary,
      TMP: temporary,
      LANG: 'C.UTF-8',
      CI: '1',
      DSH_HOME: this.home,
      HTTP_PROXY: REFUSING,
      HTTPS_PROXY: REFUSING,
      ALL_PROXY: REFUSING,
      NO_PROXY: '127.0.0.1,localhost',
      NODE_OPTIONS: `--import ${GUARD}`,
      DSH_TEST_NETWORK_LOG: this.log,
      DSH_TEST_PID: String(process.pid),
      ...extra,
    }
  }

  /** `dsh plugin --profile <name> ...`; there is no registry to ask, so it may only use what it is given. */
  async plugin(...args: string[]): Promise<RunResult> {
    return await runWell(process.execPath, [this.installation.dsh, 'plugin', '--profile', this.name, ...args], {
      cwd: this.home,
      env: this.env({ npm_config_store_dir: this.installation.store, npm_config_registry: REFUSING, npm_config_update_notifier: 'false' }),
      timeoutMs: COMMAND_MS,
    })
  }

  /** The rows as composed of all layers, in the harness's own print. */
  async dump(): Promise<string> {
    const args = [this.installation.dsh, '--profile', this.name, '--dump-config']
    return (await runWell(process.execPath, args, { cwd: this.home, env: this.env({}), timeoutMs: COMMAND_MS })).stdout
  }

  /** Writes the user's own layer, which the harness applies after every bundle. */
  patch(text: string): void {
    writeFileSync(join(this.directory, 'cordis.patch.yml'), text)
  }

  /** The bundles of the profile, in the order of their layers. */
  bundles(): string[] {
    const manifest = JSON.parse(readFileSync(join(this.directory, 'package.json'), 'utf8')) as { dsh: { profile: { bundles: string[] } } }
    return manifest.dsh.profile.bundles
  }

  /**
   * `dsh --profile <name> <args>` in a directory.
   * @param model the address of the model server.
   * @param extra environment variables beside the usual ones.
   */
  async start(cwd: string, model: string, args: string[], timeoutMs: number, extra: Record<string, string> = {}): Promise<RunResult> {
    return await run(process.execPath, [this.installation.dsh, '--profile', this.name, ...args], {
      cwd,
      env: this.env({ DEEPSEEK_BASE_URL: model, DEEPSEEK_API_KEY: 'scripted', ...extra }),
      timeoutMs,
    })
  }

  traces(): Traces {
    const entries = readFileSync(this.log, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { kind: string; value: string })
    const of = (kind: string): string[] => entries.filter((entry) => entry.kind === kind).map((entry) => entry.value)
    return { connections: of('connect'), lookups: of('lookup'), datagrams: of('datagram'), addons: of('addon') }
  }

  /** Whether a package is in the profile itself (and not only found in the installation). */
  holds(packageName: string): boolean {
    return existsSync(join(this.directory, 'node_modules', packageName, 'package.json'))
  }

  /** Where a bundle of the profile finds a package that the profile does not hold; its real path. */
  foundAt(packageName: string): string {
    return realpathSync.native(join(this.directory, '..', 'node_modules', packageName))
  }
}
