/** What all groups of the end-to-end test share: the installed command, the packed package, the directories. */
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Installation, installDsh } from './install.ts'
import { type ModelRequest, startModelServer, type ToolDefinition, type Turn } from './model-server.ts'
import { packProject } from './pack.ts'
import { makePlace, type Place } from './place.ts'
import { killAll, type RunResult } from './processes.ts'
import { Profile } from './profile.ts'

/** Setting up may install the command from the registry. */
export const SET_UP_MS = 20 * 60_000
const START_MS = 60_000

/** A turn that ends the task at once. */
export const HELLO: Turn = { title: 'hello', say: 'Hello.' }

export function progress(text: string): void {
  process.stderr.write(`[dsh] ${text}\n`)
}

export class Context {
  private readonly place: Place = makePlace()
  private installed: Installation | undefined
  private packed: string | undefined

  /** Packs the project, unless a tarball to test in its place is given, and installs the command if the cache does not hold it. */
  async setUp(): Promise<void> {
    this.packed = process.env['DSH_FS_NATIVE_TARBALL']
    if (this.packed === undefined) {
      const { tarball, files } = await packProject(this.place.temporary)
      this.packed = tarball
      progress(`packed ${files.length} files`)
    }
    this.installed = await installDsh(progress)
  }

  tearDown(): void {
    killAll()
    this.place.remove()
  }

  get installation(): Installation {
    if (this.installed === undefined) throw new Error('the command is not installed')
    return this.installed
  }

  get tarball(): string {
    if (this.packed === undefined) throw new Error('the project is not packed')
    return this.packed
  }

  /** The directory in which workspaces are made; confinement does not open it. */
  get workspaces(): string {
    return this.place.workspaces
  }

  /** A directory that confinement leaves open. */
  get temporary(): string {
    return this.place.temporary
  }

  /** A profile in a home of its own, as it is shipped. */
  async shippedProfile(label: string, name = 'headless'): Promise<Profile> {
    const profile = new Profile(this.installation, join(this.place.temporary, label), name)
    await profile.dump()
    return profile
  }

  /** A profile in a home of its own, to which our package was added. */
  async nativeProfile(label: string, name = 'headless'): Promise<Profile> {
    const profile = new Profile(this.installation, join(this.place.temporary, label), name)
    await profile.plugin('add', this.tarball)
    return profile
  }

  /** Plays a short script, whose last turn is `HELLO`, with one start of the command. */
  async ask(
    profile: Profile,
    script: readonly Turn[],
    env: Record<string, string> = {},
    cwd = this.workspaces,
  ): Promise<{ outcome: RunResult; requests: ModelRequest[] }> {
    const server = await startModelServer(script, () => {})
    try {
      const outcome = await profile.start(cwd, server.url, ['Say hello.'], START_MS, env)
      expect(outcome).toMatchObject({ code: 0, stdout: 'Hello.\n', stderr: '' })
      expect(server.problems).toEqual([])
      return { outcome, requests: server.requests }
    } finally {
      await server.close()
    }
  }

  /** The tools that a task is offered, by name. */
  async offeredTools(profile: Profile): Promise<Map<string, ToolDefinition>> {
    const { requests } = await this.ask(profile, [HELLO])
    return new Map(requests[0]?.tools?.map((tool) => [tool.function.name, tool]))
  }
}

/** The paths of our addon that the processes of a profile have loaded. */
export function loadedAddons(profile: Profile): string[] {
  return profile.traces().addons.filter((path) => /dsh-fs-native\.[^/\\]+\.node$/.test(path))
}
