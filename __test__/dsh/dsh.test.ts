/**
 * End to end in the published `dsh` command: the packed package, added to a fresh profile as a user would add it, against
 * a scripted model on loopback.
 */
import { afterAll, beforeAll } from 'vitest'
import { testBundle } from './bundle.ts'
import { testConfinement } from './confinement.ts'
import { Context, SET_UP_MS } from './context.ts'
import { testSessions } from './sessions.ts'

const context = new Context()
beforeAll(() => context.setUp(), SET_UP_MS)
afterAll(() => context.tearDown())

testSessions(context)
testBundle(context)
testConfinement(context)
