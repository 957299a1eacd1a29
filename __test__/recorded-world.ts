/**
 * A context over a provider that is not ours, in which every call of the provider, every event and every result is
 * written down in a form that compares equal between two such worlds.
 * @module
 */
import type { Context } from '@deepseek-ai/cordis'
import type { FileSystem } from '@deepseek-ai/dsh-fs'
import * as originalPolicy from '@deepseek-ai/dsh-fs-observation-policy'
import SandboxedFileSystem from '@deepseek-ai/dsh-fs-sandbox'
import SandboxPolicyService from '@deepseek-ai/dsh-sandbox-policy'
import * as original from '@deepseek-ai/dsh-tool-fs'
import { expect } from 'vitest'
import * as ours from '../plugin/tools/index.ts'
import { agentIn, callTool, mountLocal, rawFs, runtime, type ToolsPlugin, temporaryDirectory } from './side-by-side.ts'

const METHODS = ['resolve', 'stat', 'lstat', 'readText', 'streamText', 'readBytes', 'listDir', 'writeText', 'editText'] as const
type Mode = 'read-only' | 'workspace-write' | 'danger-full-access'
export type Call = [name: string, args: Record<string, unknown>, by?: 'agent' | 'nobody']

export interface World {
  ctx: Context
  fs: FileSystem
  dir: string
  /** All that happened, in order, with the objects of the test named. */
  log: unknown[]
  play(...calls: Call[]): Promise<unknown[]>
}

interface Options {
  config?: original.Config
  mode?: Mode
  policy?: boolean
  /** The answer of the user to an escalation; undefined: nobody can be asked. */
  approval?: string
  cwd?: (dir: string) => string | undefined
  prepare?: (world: World) => void | Promise<void>
}

export async function world(plugin: ToolsPlugin, options: Options = {}): Promise<World> {
  const dir = temporaryDirectory()
  const ctx = await runtime()
  const log: unknown[] = []
  const signal = new AbortController().signal
  if (options.mode) {
    await ctx.plugin(SandboxPolicyService, { mode: options.mode, workspaceRoot: dir })
    await ctx.plugin(SandboxedFileSystem, { cwd: dir })
  } else {
    await mountLocal(ctx, dir)
  }
  if (options.policy) await ctx.plugin(originalPolicy)
  await ctx.plugin(plugin, options.config ?? {})

  const cwd = options.cwd ? options.cwd(dir) : dir
  const agent = agentIn(cwd)
  const named = (value: unknown): unknown => name(value, { dir, signal, agent })
  const fs = rawFs(ctx)
  for (const method of METHODS) spyOn(fs, method, (args) => log.push([method, ...args.map(named)]))
  for (const event of ['fs/write-intent', 'fs/edit-intent', 'fs/observed'] as const) {
    const listener = (...args: unknown[]) => {
      log.push([event, ...args.map(named)])
      const next = args[2]
      return typeof next === 'function' ? next() : undefined
    }
    ctx.on(event, listener as never, { prepend: true })
  }
  if (options.approval !== undefined) {
    ctx.provide('approval', {
      async request(request: object) {
        log.push(['approval', named(request)])
        return options.approval
      },
    } as never)
  }
  const made: World = {
    ctx,
    fs,
    dir,
    log,
    async play(...calls) {
      for (const [tool, args, by] of calls) {
        const result = await callTool(ctx, tool, args, { signal, ...(by === 'nobody' ? {} : { agent }) })
        log.push(['result', named({ ...result })])
      }
      return log
    },
  }
  await options.prepare?.(made)
  return made
}

/** Reports the calls of a method and makes them. */
function spyOn(fs: FileSystem, method: (typeof METHODS)[number], report: (args: unknown[]) => void): void {
  const real = fs[method] as (...args: unknown[]) => unknown
  Object.assign(fs, {
    [method](...args: unknown[]) {
      report(args)
      return real.apply(this, args)
    },
  })
}

/** A value that compares equal in both worlds: known objects by name, versions and directories hidden. */
function name(value: unknown, known: { dir: string; signal: AbortSignal; agent: object }): unknown {
  if (value === known.signal) return '<signal>'
  if (value === known.agent) return '<agent>'
  if (typeof value === 'function') return '<function>'
  if (typeof value === 'string') return value.replaceAll(known.dir, '<D>').replace(/^\d+(:\d+){4}$/, '<version>')
  if (typeof value !== 'object' || value === null) return value
  if ('token' in value) return '<exec>'
  if (Array.isArray(value)) return value.map((item) => name(item, known))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, name(item, known)]))
}

/** Plays the calls in both worlds. @returns our log, which is the same as the original's. */
export async function same(options: Options, ...calls: Call[]): Promise<unknown[]> {
  const theirs = await (await world(original, options)).play(...calls)
  const mine = await (await world(ours, options)).play(...calls)
  expect(mine).toStrictEqual(theirs)
  return mine
}

/** The names of what happened. */
export const steps = (log: unknown[]): unknown[] => log.map((entry) => (entry as unknown[])[0])
