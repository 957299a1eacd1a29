/**
 * What the figures depend on: the machine, its file systems, the versions.
 * @module
 */
import { readFileSync, realpathSync, statfsSync } from 'node:fs'
import { availableParallelism, cpus, freemem, loadavg, release, tmpdir, totalmem, type } from 'node:os'
import { GB } from './cases.ts'

/** File system types that Linux reports, by their magic number. */
const LINUX_TYPES: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x0000ef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x794c7630, 'overlayfs'],
  [0x2fc12fc1, 'zfs'],
  [0x00006969, 'nfs'],
  [0x01021997, '9p'],
  [0x6a656a63, 'virtiofs'],
])

/** The name of the file system at `path`, or its number where it has no name here. */
export function fileSystemOf(path: string): string {
  const number = statfsSync(path).type
  return (process.platform === 'linux' ? LINUX_TYPES.get(number) : undefined) ?? `type 0x${number.toString(16)}`
}

/** A directory on tmpfs, or null where none is found. */
export function findTmpfs(): string | null {
  if (process.platform !== 'linux') return null
  for (const path of ['/dev/shm', tmpdir()]) {
    try {
      if (fileSystemOf(path) === 'tmpfs') return realpathSync(path)
    } catch {
      // Not there: the next candidate, and null after the last one.
    }
  }
  return null
}

/** Whether `path`, a directory in memory, can take a file of 1 GB and leave the machine as much again. */
export function hasRoomForBigFile(path: string): boolean {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize > 1.2 * GB && freemem() > 3 * GB
}

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGb: number
  readonly kernel: string
  readonly node: string
  /** Load of the last minute before the first case. */
  readonly load: number
  readonly versions: Readonly<Record<string, string>>
}

const PACKAGES = [
  '@deepseek-ai/dsh-tools',
  '@deepseek-ai/dsh-fs-local',
  '@deepseek-ai/dsh-tool-fs',
  '@deepseek-ai/dsh-fs-observation-policy',
]

function versionAt(url: URL): string {
  const { version } = JSON.parse(readFileSync(url, 'utf8')) as { version: string }
  return version
}

export function describeMachine(): Machine {
  const versions: Record<string, string> = { 'dsh-fs-native': versionAt(new URL('../package.json', import.meta.url)) }
  for (const name of PACKAGES) versions[name] = versionAt(new URL(import.meta.resolve(`${name}/package.json`)))
  return {
    cpu: cpus()[0]?.model ?? 'unknown processor',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / GB),
    kernel: `${type()} ${release()}`,
    node: process.version,
    load: loadavg()[0] ?? 0,
    versions,
  }
}
