/**
 * What an executor works on: our own engine directly, or any other `ctx.fs` through callbacks. Contract: order of effects,
 * arguments of the provider calls.
 */
import type { FileSystem } from '@deepseek-ai/dsh-fs'
import { ENGINE, type EngineBacking, type Primitive } from '../backing.ts'
import type { LocalFs, ProviderCallbacks } from '../native.ts'
import type { ToolCall } from './call.ts'

/** Cordis hands services out behind proxies; under this key they give the object itself. */
const ORIGINAL = Symbol.for('cordis.original')

const MUTATIONS: readonly Primitive[] = ['writeText', 'editText']

/**
 * Finds the engine behind a provider, unless somebody overrode a method that the call would use: on the object, in a
 * subclass or on the prototype. Then that method must run, so there is no direct way.
 *
 * @param fs the provider, as the context gives it
 * @param used the methods that the tool would call
 * @param authorized whether the call says under which policy it runs; a provider that confines must be called itself if not
 * @returns the engine, or undefined if the provider itself must be called
 */
export function directEngine(fs: FileSystem, used: readonly Primitive[], authorized: boolean): LocalFs | undefined {
  const raw: FileSystem & { readonly [ENGINE]?: EngineBacking } = (fs as { [ORIGINAL]?: FileSystem })[ORIGINAL] ?? fs
  const backing = raw[ENGINE]
  if (backing === undefined) return undefined
  if (backing.confines && !authorized && used.some((method) => MUTATIONS.includes(method))) return undefined
  return used.every((method) => raw[method] === backing.methods[method]) ? backing.engine : undefined
}

/**
 * Presents a provider to the executors. Each callback is one call of one method, with the arguments that the host's own
 * tools pass. Objects that came from the provider or from a listener go back as they were, not as the executor's copies.
 *
 * @param fs the provider
 * @param call the tool call that this is for
 */
export function providerCallbacks(fs: FileSystem, call: ToolCall): ProviderCallbacks {
  const { signal } = call.exec
  let stream: AsyncIterator<string> | Iterator<string> | undefined
  return {
    async resolve(path, cwd) {
      const target = await fs.resolve(path, cwd === undefined ? { signal } : { cwd, signal })
      return call.adopt(target)
    },
    async stat(target) {
      return fs.stat(call.adopt(target), signal)
    },
    async readText(target) {
      return fs.readText(call.adopt(target), signal)
    },
    async openText(target) {
      stream = iterate(await fs.streamText(call.adopt(target), signal))
    },
    async nextText() {
      const next = await stream?.next()
      return next === undefined || next.done ? null : next.value
    },
    async writeText(target, content) {
      return fs.writeText(call.adopt(target), content, call.writeIntent, signal, call.policy)
    },
    async editText(target, edit) {
      return fs.editText(call.adopt(target), edit, call.editGuard, signal, call.policy)
    },
  }
}

/** Iterates as `for await` does: a plain iterable will do too. */
function iterate(chunks: AsyncIterable<string> | Iterable<string>): AsyncIterator<string> | Iterator<string> {
  return Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
}
