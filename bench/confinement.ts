/**
 * `npm run bench:confinement`: what confinement costs. The same write through our unconfined and our confining provider,
 * in turn in one process, on tmpfs; the original's two providers beside them.
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Context, type Plugin } from '@deepseek-ai/cordis'
import type { FileSystem } from '@deepseek-ai/dsh-fs'
import { median } from './stats.ts'

const ROUNDS = 400
const CALLS = 8

/** The four providers; each pair has the unconfined one first. */
const PAIRS = {
  original: ['@deepseek-ai/dsh-fs-local', '@deepseek-ai/dsh-fs-sandbox'],
  ours: ['dsh-fs-native/provider', 'dsh-fs-native/sandbox'],
} as const

async function plugin(name: string): Promise<Plugin> {
  const module: { default?: Plugin } & Plugin = await import(name)
  return module.default ?? module
}

async function provider(name: string, cwd: string): Promise<FileSystem> {
  const ctx = new Context()
  await ctx.plugin(await plugin('@deepseek-ai/dsh-sandbox-policy'), { mode: 'workspace-write', workspaceRoot: cwd })
  await ctx.plugin(await plugin(name), { cwd })
  return ctx.fs
}

/** Milliseconds of one guarded write, over some in a row. */
async function time(fs: FileSystem, path: string, contents: readonly string[], policy: object): Promise<number> {
  const target = await fs.resolve(path)
  let version = (await fs.stat(target))?.version as never
  const start = performance.now()
  for (let call = 0; call < CALLS; call++) {
    const content = contents[call % 2] as string
    const outcome = await fs.writeText(target, content, { kind: 'replaceIfVersion', version }, undefined, policy as never)
    version = outcome.version as never
  }
  return (performance.now() - start) / CALLS
}

const base = mkdtempSync('/dev/shm/dsh-fs-native-bench-')
try {
  const workspace = join(base, 'workspace')
  mkdirSync(join(workspace, 'src'), { recursive: true })
  const policy = { mode: 'workspace-write', workspaceRoot: workspace }
  const path = join(workspace, 'src', 'file.txt')
  for (const [side, names] of Object.entries(PAIRS)) {
    const [free, confined] = await Promise.all(names.map((name) => provider(name, workspace)))
    for (const bytes of [1024, 50 * 1024, 1024 * 1024]) {
      const contents = ['a', 'b'].map((letter) => `${letter.repeat(79)}\n`.repeat(Math.ceil(bytes / 80)).slice(0, bytes))
      writeFileSync(path, contents[0] as string)
      const times = { free: [] as number[], confined: [] as number[], ratios: [] as number[] }
      const rounds = bytes > 100_000 ? ROUNDS / 8 : ROUNDS
      for (let round = -rounds / 4; round < rounds; round++) {
        const order = round % 2 === 0 ? [free, confined] : [confined, free]
        const found = new Map<unknown, number>()
        for (const fs of order) found.set(fs, await time(fs as FileSystem, path, contents, policy))
        if (round < 0) continue
        const [one, other] = [found.get(free) as number, found.get(confined) as number]
        times.free.push(one)
        times.confined.push(other)
        times.ratios.push(other / one)
      }
      const micros = (list: number[]) => `${Math.round(median(list) * 1000)} µs`
      console.log(
        `${side}, write ${bytes / 1024} KB: unconfined ${micros(times.free)}, confined ${micros(times.confined)}, confined / unconfined ×${median(times.ratios).toFixed(2)}`,
      )
    }
  }
} finally {
  rmSync(base, { recursive: true, force: true })
}
process.exit(0)
