/** How a provider of ours shows its native engine to the tools. */
import type { LocalFs } from './native.ts'

/** The provider methods that executors stand in for or call. */
export type Primitive = 'resolve' | 'stat' | 'readText' | 'streamText' | 'writeText' | 'editText'

/** Under this key a provider of ours shows its engine. Registered, so that two copies of the package know each other. */
export const ENGINE = Symbol.for('dsh-fs-native.engine')

/** The value under {@link ENGINE}. */
export interface EngineBacking {
  readonly engine: LocalFs
  /** The methods as the provider's class defined them: only for these the engine can stand in. */
  readonly methods: Readonly<Record<Primitive, unknown>>
  /** Whether a mutation needs a policy: the engine itself confines nothing that it is not told to. */
  readonly confines: boolean
}
