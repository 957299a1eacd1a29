/**
 * The writing side of the race, a process of its own: writes and edits files below `door` of a workspace, through a
 * confining provider under the policy `workspace-write`, several at a time, until its standard input ends. The job comes
 * as its argument, the report goes to standard output.
 * @module
 */
import { text } from 'node:stream/consumers'
import { Context } from '@deepseek-ai/cordis'
import { FsError, type FsTarget } from '@deepseek-ai/dsh-fs'
import SandboxPolicyService from '@deepseek-ai/dsh-sandbox-policy'
import { Random } from '../differential/random.ts'
import { KNOWN, MARK } from './arena.ts'

export interface Job {
  /** The module that exports the provider as its default. */
  provider: string
  workspace: string
  seed: number
}

export interface Report {
  attempts: number
  successes: number
  /** How many attempts were rejected with each code of the harness's error class. */
  codes: Record<string, number>
  /** How many were rejected with anything else, and the first few of these. */
  untyped: number
  samples: string[]
}

/** Mutations at a time. */
const LANES = 4
const MOST_SAMPLES = 5
/** Names at depth 1 that are in neither directory when the race begins. */
const NEW = ['new-0.txt', 'new-1.txt', 'new-2.txt', 'new-3.txt']

const job = JSON.parse(process.argv[2] ?? '') as Job
const random = new Random(job.seed)
const report: Report = { attempts: 0, successes: 0, codes: {}, untyped: 0, samples: [] }

const ctx = new Context()
await ctx.plugin(SandboxPolicyService, { mode: 'workspace-write', workspaceRoot: job.workspace })
await ctx.plugin((await import(job.provider)).default, { cwd: job.workspace })
const policy = ctx.sandboxPolicy.resolve()

const target = (name: string): Promise<FsTarget> => ctx.fs.resolve(`door/${name}`)
/** No two attempts write the same, so that each that ends up outside shows. */
const content = (attempt: number): string => `${MARK} written ${attempt}\n`

type Mutation = (attempt: number) => Promise<unknown>

const write =
  (name: string): Mutation =>
  async (attempt) =>
    ctx.fs.writeText(await target(name), content(attempt), undefined, undefined, policy)

const edit =
  (name: string): Mutation =>
  async (attempt) => {
    const change = { oldString: MARK, newString: `${MARK} edited ${attempt}`, replaceAll: false }
    return ctx.fs.editText(await target(name), change, undefined, undefined, policy)
  }

/** Three parents are missing, and outside the one above them too. */
const create =
  (guarded: boolean): Mutation =>
  async (attempt) => {
    const leaf = await target(`fresh/${attempt}/deep/leaf.txt`)
    return ctx.fs.writeText(leaf, content(attempt), guarded ? { kind: 'createIfAbsent' } : undefined, undefined, policy)
  }

const drawMutation = (): Mutation =>
  random.weighted([
    [3, write(random.pick(KNOWN))],
    [3, edit(random.pick(KNOWN))],
    [1, write(random.pick(NEW))],
    [2, create(random.chance(0.5))],
  ])

function noteFailure(error: unknown): void {
  if (error instanceof FsError) {
    report.codes[error.code] = (report.codes[error.code] ?? 0) + 1
    return
  }
  report.untyped++
  if (report.samples.length < MOST_SAMPLES) report.samples.push(String(error))
}

let over = false
async function lane(): Promise<void> {
  while (!over) {
    try {
      await drawMutation()(++report.attempts)
      report.successes++
    } catch (error) {
      noteFailure(error)
    }
  }
}

const lanes = Promise.all(Array.from({ length: LANES }, lane))
await text(process.stdin)
over = true
await lanes
await ctx.fiber.dispose()
process.stdout.write(JSON.stringify(report))
