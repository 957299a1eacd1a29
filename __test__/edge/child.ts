/**
 * A process of its own for the cases that need one: another user, umask or locale, a bind mount, a gate around its system
 * calls. Reads one job from standard input, plays its steps one after another and writes the report to standard output.
 * @module
 */
import { text } from 'node:stream/consumers'
import type { FsTarget, FsWriteIntent } from '@deepseek-ai/dsh-fs'
import {
  chunksOf,
  describeError,
  type Failure,
  type Mounted,
  mount,
  type Observed,
  type ProviderConfig,
  type Sandbox,
  type ToolsConfig,
} from './packages.ts'

/** A call of a tool, or of a provider method on a path that is resolved first. */
export type Step =
  | { tool: string; args: object }
  | { fs: 'resolve' | 'stat' | 'readText' | 'streamText' | 'readBytes' | 'listDir'; path: string }
  | { fs: 'writeText'; path: string; content: string; expected?: 'createIfAbsent' | 'current' }
  | { fs: 'editText'; path: string; oldString: string; newString: string }

export interface Job {
  /** The base directory of the provider and of the session. */
  cwd: string
  provider?: ProviderConfig
  sandbox?: Sandbox
  /** Mounts the tools and the policy. */
  tools?: ToolsConfig
  /** The user and group to become once everything is loaded. */
  user?: number
  umask?: number
  steps: Step[]
}

export interface Outcome {
  value?: unknown
  failed?: Failure
}

export interface Report {
  pid: number
  locale: string
  outcomes: Outcome[]
  observed: Observed[]
}

function becomeUser(id: number): void {
  process.setgroups!([])
  process.setgid!(id)
  process.setuid!(id)
}

/** The target itself for an absolute path, so that nothing but the call under test touches it. */
function targetOf({ fs }: Mounted, path: string): Promise<FsTarget> {
  return path.startsWith('/') ? Promise.resolve({ targetKey: path, displayPath: path } as FsTarget) : fs.resolve(path)
}

async function intentFor({ fs }: Mounted, target: FsTarget, expected?: 'createIfAbsent' | 'current'): Promise<FsWriteIntent | undefined> {
  if (expected !== 'current') return expected && { kind: expected }
  const info = await fs.stat(target)
  if (!info) throw new Error(`${target.displayPath} has no current version`)
  return { kind: 'replaceIfVersion', version: info.version }
}

async function play(mounted: Mounted, step: Step): Promise<unknown> {
  if ('tool' in step) return mounted.call(step.tool, step.args)
  const { fs } = mounted
  if (step.fs === 'resolve') return fs.resolve(step.path)
  const target = await targetOf(mounted, step.path)
  switch (step.fs) {
    case 'stat':
      return fs.stat(target)
    case 'readText':
      return fs.readText(target)
    case 'streamText':
      return (await chunksOf(await fs.streamText(target))).join('')
    case 'readBytes':
      return Buffer.from(await fs.readBytes(target, undefined, 1000)).toString('latin1')
    case 'listDir':
      return fs.listDir(target)
    case 'writeText':
      return fs.writeText(target, step.content, await intentFor(mounted, target, step.expected))
    case 'editText':
      return fs.editText(target, { oldString: step.oldString, newString: step.newString, replaceAll: false })
  }
}

async function attempt(mounted: Mounted, step: Step): Promise<Outcome> {
  try {
    return { value: await play(mounted, step) }
  } catch (error) {
    return { failed: describeError(error) }
  }
}

async function main(): Promise<void> {
  const job = JSON.parse(await text(process.stdin)) as Job
  const mounted = await mount(job.cwd, {
    ...(job.provider ? { provider: job.provider } : {}),
    ...(job.sandbox ? { sandbox: job.sandbox } : {}),
    ...(job.tools ? { tools: job.tools, policy: true } : {}),
  })
  if (job.umask !== undefined) process.umask(job.umask)
  if (job.user !== undefined) becomeUser(job.user)
  const outcomes: Outcome[] = []
  for (const step of job.steps) outcomes.push(await attempt(mounted, step))
  const locale = new Intl.Collator().resolvedOptions().locale
  const report: Report = { pid: process.pid, locale, outcomes, observed: mounted.observed }
  process.stdout.write(JSON.stringify(report))
}

await main()
