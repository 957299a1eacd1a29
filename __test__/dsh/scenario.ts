/** The scenes as one session: the workspace laid out, the turns of the model server, the expected texts. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FILES } from './files.ts'
import type { Turn } from './model-server.ts'
import { SCENES, type Scene } from './scenes.ts'
import { type Step, WORK } from './steps.ts'

/** All steps, in the order of the session. */
export const STEPS: readonly Step[] = SCENES.flatMap((scene) => scene.steps)
export const LAST_WORDS = 'The session is over. 完'
export const END: Turn = { title: 'the end', say: LAST_WORDS }

/** Which implementation serves the tools, and whether the provider confines. */
export interface Composition {
  native: boolean
  confined: boolean
}

/** The text the model must receive. */
export function expectedResult(step: Step, composition: Composition): string {
  if (composition.native && step.native) return step.native.result
  return composition.confined ? step.result : (step.unconfined ?? step.result)
}

/** Puts the workspace of the session under a root. */
export function layOut(root: string): void {
  for (const [path, content] of Object.entries(FILES)) {
    const file = join(root, WORK, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
}

/** Scenes as the model server plays them under a root, and the turn that ends the session. */
export function turns(root: string, scenes: readonly Scene[], end: Turn): Turn[] {
  const place = (args: Step['args']): Step['args'] => {
    const text = JSON.stringify(args).replaceAll('<root>', JSON.stringify(root).slice(1, -1))
    return JSON.parse(text) as Step['args']
  }
  const played = scenes.map((scene): Turn => {
    const { before, failFirst } = scene
    return {
      title: scene.title,
      say: `Now: ${scene.title}`,
      calls: scene.steps.map(({ id, tool, args }) => ({ id, tool, args: place(args) })),
      ...(before && { before: () => before(join(root, WORK)) }),
      ...(failFirst && { failFirst }),
    }
  })
  return [...played, end]
}
