/**
 * Observation policy: turns "has this session seen the current file?" into guards for `write` and `edit`, through the
 * `fs/*` events alone. It does no I/O: whether a guard still holds is the provider's to judge. Contract: policy.
 */
import type { Context } from '@deepseek-ai/cordis'
import { FsError, type FsObservation, type FsTarget } from '@deepseek-ai/dsh-fs'

/** Name under which the loader reports the plugin. */
export const name = 'fs-observation-policy'

/** What the policy reads of the otherwise opaque actor of an `fs/*` event. */
export interface FsObservationActor {
  /** The agent that runs the tool; calls from outside an agent have none. */
  readonly agent?: {
    /** Owner of the observations. Only its identity counts, nothing in it is read. */
    readonly session?: object
  }
}

/** What one owner has seen, by `targetKey`. */
type Observations = Map<string, FsObservation>

/**
 * Installs the listeners of the three `fs/*` events. Nothing is observed at first, so after a reload every existing file
 * must be read again before it can be changed.
 *
 * @param ctx the plugin's context, which owns the listeners
 */
export function apply(ctx: Context): void {
  // Weak: what a session has seen goes with the session.
  let byOwner = new WeakMap<object, Observations>()

  function recall(target: FsTarget, actor: object | undefined): FsObservation | undefined {
    const owner = ownerOf(actor)
    return owner && byOwner.get(owner)?.get(target.targetKey)
  }

  // Both deciders answer alone and never ask `next`. They are async so that a refusal is a rejection, not a throw.
  ctx.on('fs/write-intent', async (target, actor) => {
    const seen = recall(target, actor)
    return seen?.kind === 'present' ? { kind: 'replaceIfVersion', version: seen.version } : { kind: 'createIfAbsent' }
  })

  ctx.on('fs/edit-intent', async (target, actor) => {
    const seen = recall(target, actor)
    if (seen === undefined) throw new FsError(`edit requires reading "${target.displayPath}" first`, 'FS_NOT_OBSERVED')
    if (seen.kind === 'absent') throw new FsError(`cannot edit "${target.displayPath}": not found`, 'FS_NOT_FOUND')
    return { version: seen.version }
  })

  ctx.on('fs/observed', (target, observation, actor) => {
    const owner = ownerOf(actor)
    if (owner === undefined) return
    let observations = byOwner.get(owner)
    if (observations === undefined) {
      observations = new Map()
      byOwner.set(owner, observations)
    }
    observations.set(target.targetKey, observation)
  })

  ctx.effect(() => () => {
    byOwner = new WeakMap()
  })
}

/** The session of the agent behind an event, if there is one that can own observations. */
function ownerOf(actor: object | undefined): object | undefined {
  const session = (actor as FsObservationActor | undefined)?.agent?.session
  return typeof session === 'object' && session !== null ? session : undefined
}
