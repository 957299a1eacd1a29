/** The choice between the engine and a provider's own methods, and what both share. Contract: overridden methods, errors, aborts. */
import { FileSystem, FsError } from '@deepseek-ai/dsh-fs'
import { describe, expect, test, vi } from 'vitest'
import { ENGINE, type Primitive } from '../plugin/backing.ts'
import { withCancellation } from '../plugin/cancel.ts'
import { createFsError } from '../plugin/errors.ts'
import { Cancellation, type LocalFs } from '../plugin/native.ts'
import { directEngine } from '../plugin/tools/engine.ts'

const PRIMITIVES: Primitive[] = ['resolve', 'stat', 'readText', 'streamText', 'writeText', 'editText']
const engine = {} as LocalFs

/** A provider that shows an engine as ours does. */
function backed() {
  class Provider {
    resolve() {}
    stat() {}
    readText() {}
    streamText() {}
    writeText() {}
    editText() {}
    listDir() {}
    get [ENGINE]() {
      return { engine, methods }
    }
  }
  const methods = Object.fromEntries(PRIMITIVES.map((method) => [method, Provider.prototype[method]]))
  return Provider
}

const choose = (fs: object, used = PRIMITIVES, authorized = false) => directEngine(fs as FileSystem, used, authorized)

describe('the engine is used directly', () => {
  test('for a provider that shows one', () => {
    expect(choose(new (backed())())).toBe(engine)
  })

  test('behind the proxies of the context', () => {
    const raw = new (backed())()
    const proxy = new Proxy(raw, {
      get: (target, key) => (key === Symbol.for('cordis.original') ? target : Reflect.get(target, key)?.bind?.(target)),
    })
    expect(choose(proxy)).toBe(engine)
  })

  test('for a subclass that changes other methods only', () => {
    class Subclass extends backed() {
      override listDir() {}
    }
    expect(choose(new Subclass())).toBe(engine)
  })

  test('for a tool that does not use the overridden method', () => {
    const fs = Object.assign(new (backed())(), { editText() {} })
    expect(choose(fs, ['resolve', 'writeText'])).toBe(engine)
    expect(choose(fs, ['resolve', 'editText'])).toBeUndefined()
  })

  test('for a mutation of a provider that confines only under a policy', () => {
    class Confining extends backed() {
      override get [ENGINE]() {
        return { ...super[ENGINE], confines: true }
      }
    }
    const fs = new Confining()
    expect(choose(fs, ['resolve', 'writeText'], true)).toBe(engine)
    expect(choose(fs, ['resolve', 'writeText'])).toBeUndefined()
    expect(choose(fs, ['resolve', 'editText'])).toBeUndefined()
    expect(choose(fs, ['resolve', 'stat', 'streamText'])).toBe(engine)
  })
})

describe.each(PRIMITIVES)('an overridden %s is honoured', (method) => {
  test('on the object', () => {
    expect(choose(Object.assign(new (backed())(), { [method]() {} }))).toBeUndefined()
  })

  test('in a subclass', () => {
    class Subclass extends backed() {}
    Object.defineProperty(Subclass.prototype, method, { value() {} })
    expect(choose(new Subclass())).toBeUndefined()
  })

  test('on the prototype', () => {
    const Provider = backed()
    const fs = new Provider()
    Object.assign(Provider.prototype, { [method]() {} })
    expect(choose(fs)).toBeUndefined()
  })

  test('in a wrapper', () => {
    expect(choose(Object.create(new (backed())(), { [method]: { value() {} } }))).toBeUndefined()
  })
})

test('a provider without an engine is called', () => {
  expect(choose(Object.create(FileSystem.prototype))).toBeUndefined()
})

describe('errors', () => {
  test('are of the class of the host', () => {
    const error = createFsError('said', 'FS_NOT_FOUND')
    expect(error).toBeInstanceOf(FsError)
    expect(error).toMatchObject({ name: 'FsError', code: 'FS_NOT_FOUND', message: 'said' })
    expect('cause' in error).toBe(false)
  })

  test('carry the system error', () => {
    const system = { code: 'EACCES', errno: -13, syscall: 'open', message: 'EACCES: permission denied, open' }
    const { cause } = createFsError('said', 'FS_PERMISSION_DENIED', system)
    expect(cause).toBeInstanceOf(Error)
    expect(cause).not.toBeInstanceOf(FsError)
    expect({ ...(cause as object), message: (cause as Error).message }).toEqual(system)
  })
})

describe('cancellation', () => {
  /** Listeners that a signal has, counted from outside. */
  function counted() {
    const controller = new AbortController()
    const add = vi.spyOn(controller.signal, 'addEventListener')
    const remove = vi.spyOn(controller.signal, 'removeEventListener')
    return { controller, balance: () => add.mock.calls.length - remove.mock.calls.length, added: () => add.mock.calls.length }
  }

  test('needs no token without a signal', async () => {
    expect(await withCancellation(undefined, async (token) => token)).toBeUndefined()
  })

  test('is there from the start for an aborted signal', async () => {
    const cancel = vi.spyOn(Cancellation.prototype, 'cancel')
    const { controller, added } = counted()
    controller.abort()
    const token = await withCancellation(controller.signal, async (token) => {
      expect(cancel).toHaveBeenCalledTimes(1)
      return token
    })
    expect(token).toBeInstanceOf(Cancellation)
    expect(added()).toBe(0)
    cancel.mockRestore()
  })

  test('comes with the abort, once, and only during the call', async () => {
    const cancel = vi.spyOn(Cancellation.prototype, 'cancel')
    const { controller, balance } = counted()
    await withCancellation(controller.signal, async () => {
      expect(balance()).toBe(1)
      expect(cancel).not.toHaveBeenCalled()
      controller.abort()
      expect(cancel).toHaveBeenCalledTimes(1)
    })
    expect(balance()).toBe(0)
    await withCancellation(new AbortController().signal, async () => {})
    expect(cancel).toHaveBeenCalledTimes(1)
    cancel.mockRestore()
  })

  test('leaves no listener after a failure, thrown at once or later', async () => {
    const { controller, balance } = counted()
    const thrown = { odd: true }
    const failures = [
      async () => Promise.reject(thrown),
      () => {
        throw thrown
      },
    ]
    for (const fail of failures) {
      await expect(withCancellation(controller.signal, fail)).rejects.toBe(thrown)
      expect(balance()).toBe(0)
    }
  })
})
