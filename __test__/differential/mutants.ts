/**
 * Deliberately wrong parts, each with one small fault, to show that the comparison notices it.
 * They are the originals with something bent on the way.
 */

import fs from 'node:fs'
import { FsError } from '@deepseek-ai/dsh-fs'
import * as originalProvider from '@deepseek-ai/dsh-fs-local'
import * as originalPolicy from '@deepseek-ai/dsh-fs-observation-policy'
import { SandboxedFileSystem } from '@deepseek-ai/dsh-fs-sandbox'
import * as originalTools from '@deepseek-ai/dsh-tool-fs'
import { matchOf } from './compositions.ts'
import type { Match } from './play.ts'
import type { PluginPart } from './world.ts'

const Local: PluginPart = originalProvider.LocalFileSystem
const Confining: PluginPart = SandboxedFileSystem

type Method = (this: PluginPart, original: (...args: PluginPart[]) => Promise<PluginPart>, ...args: PluginPart[]) => PluginPart

/** An original provider with one method bent; `original` calls the method as it was. */
function bentProvider(method: string, bent: Method, Base = Local): PluginPart {
  const Bent = class extends Base {}
  Object.defineProperty(Bent.prototype, method, {
    configurable: true,
    writable: true,
    value(this: PluginPart, ...args: PluginPart[]) {
      return bent.call(this, (...given: PluginPart[]) => Base.prototype[method].apply(this, given), ...args)
    },
  })
  return Bent
}

async function recode(run: () => Promise<unknown>, from: string, to: string): Promise<unknown> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof FsError && error.code === from) throw new FsError(error.message, to as FsError['code'])
    throw error
  }
}

const PROVIDERS: Record<string, PluginPart> = {
  'lost CR in a read': bentProvider('readText', async (original, ...args) => (await original(...args)).replaceAll('\r', '')),
  'lost CR in a write': bentProvider('writeText', (original, target, content, ...rest) =>
    original(target, content.replaceAll('\r\n', '\n'), ...rest),
  ),
  'wrong code for a stale write': bentProvider('writeText', (original, ...args) =>
    recode(() => original(...args), 'FS_STALE_VERSION', 'FS_IO_ERROR'),
  ),
  'wrong code for a missing file': bentProvider('readBytes', (original, ...args) =>
    recode(() => original(...args), 'FS_NOT_FOUND', 'FS_IO_ERROR'),
  ),
  'guard of an edit ignored': bentProvider('editText', (original, target, edit, _expected, ...rest) =>
    original(target, edit, undefined, ...rest),
  ),
  'guarded create overwrites': bentProvider('writeText', (original, target, content, expected, ...rest) =>
    original(target, content, expected?.kind === 'createIfAbsent' ? undefined : expected, ...rest),
  ),
  'version of a stat never changes': bentProvider('stat', async (original, ...args) => {
    const info = await original(...args)
    return info === undefined ? info : { ...info, version: info.version.replace(/:\d+$/, ':1') }
  }),
  'size missing in a stat': bentProvider('stat', async (original, ...args) => {
    const info = await original(...args)
    return info === undefined ? info : { version: info.version, type: info.type }
  }),
  'link followed by lstat': bentProvider('lstat', async function (original, path, options, signal) {
    return (await this.stat(await this.resolve(path, options), signal)) ?? original(path, options, signal)
  }),
  'listing in another order': bentProvider('listDir', async (original, ...args) => (await original(...args)).reverse()),
  'byte limit off by one': bentProvider('readBytes', (original, target, signal, maxBytes) =>
    original(target, signal, Math.max(0, maxBytes - 1)),
  ),
  'new file readable by all': bentProvider('writeText', async (original, target, ...rest) => {
    const outcome = await original(target, ...rest)
    if (outcome.operation === 'create') fs.chmodSync(target.targetKey, 0o644)
    return outcome
  }),
  'before missing in a write': bentProvider('writeText', async (original, ...args) => ({ ...(await original(...args)), before: null })),
  'new text of an edit altered': bentProvider('editText', (original, target, edit, ...rest) =>
    original(target, { ...edit, newString: edit.newString.replace('+', '-') }, ...rest),
  ),
  'abort ignored in a read': bentProvider('readText', (original, target) => original(target)),
  'alias not resolved': bentProvider('resolve', async (original, ...args) => {
    const target = await original(...args)
    return { ...target, targetKey: target.displayPath }
  }),
  'containment by prefix': bentProvider('contains', (_original, parent, child) => child.targetKey.startsWith(parent.targetKey)),
  'url not encoded': bentProvider('fileUrl', (_original, target) => `file://${target.targetKey}`),
  'staging left behind': bentProvider('writeText', async (original, target, ...rest) => {
    const outcome = await original(target, ...rest)
    fs.writeFileSync(`${target.targetKey}.tmp`, '')
    return outcome
  }),
  'stream without its end': bentProvider('streamText', async (original, ...args) => {
    const stream = await original(...args)
    return (async function* () {
      for await (const chunk of stream) if (chunk !== '') yield chunk
    })()
  }),
}

/** The original fence with a gap: writes and edits of the targets of which this is true are not fenced. */
function gapFor(isLetThrough: (target: PluginPart, policy: PluginPart) => boolean): PluginPart {
  const bent =
    (policyAt: number): Method =>
    (original, target, ...rest) => {
      const policy = rest[policyAt]
      if (isLetThrough(target, policy)) rest[policyAt] = { ...policy, mode: 'danger-full-access' }
      return original(target, ...rest)
    }
  return bentProvider('editText', bent(3), bentProvider('writeText', bent(3), Confining))
}

const CONFINING: Record<string, PluginPart> = {
  'a directory whose name begins like the workspace is open': gapFor((target) => target.targetKey.includes('/in/work-evil/')),
  'links that lead out are followed': gapFor((target, policy) => target.displayPath.startsWith(`${policy?.workspaceRoot}/`)),
  'edits are not fenced': bentProvider(
    'editText',
    (original, target, edit, expected, signal) => original(target, edit, expected, signal, { mode: 'danger-full-access' }),
    Confining,
  ),
  'the policy of a call is ignored': bentProvider(
    'writeText',
    (original, target, content, expected, signal) => original(target, content, expected, signal),
    Confining,
  ),
}

/** Members of the context that a bent tools plugin sees instead of the real ones. */
type Bend = (context: PluginPart) => Record<string, unknown>

function bentTools(bend: Bend): PluginPart {
  return {
    ...originalTools,
    apply(context: PluginPart, config: PluginPart) {
      const bent = bend(context)
      const view = new Proxy(context, {
        get: (target, key) => (typeof key === 'string' && key in bent ? bent[key] : Reflect.get(target, key)),
      })
      return originalTools.apply(view as never, config)
    },
  }
}

/** Bends the definition of one tool when it is registered. */
function bentDefinition(tool: string, change: (definition: PluginPart) => object): PluginPart {
  return bentTools((context) => ({
    tools: {
      register: (definition: PluginPart) =>
        context.tools.register(definition.name === tool ? { ...definition, ...change(definition) } : definition),
    },
  }))
}

function bentRender(tool: string, from: string | RegExp, to: string): PluginPart {
  return bentDefinition(tool, (definition) => ({
    output: {
      ...definition.output,
      render: (args: unknown, value: unknown) =>
        definition.output.render(args, value).map((block: { text: string }) => ({ ...block, text: block.text.replace(from, to) })),
    },
  }))
}

/** Bends how the tools call one provider method. */
function bentCall(
  method: string,
  bent: (original: (...args: PluginPart[]) => PluginPart, ...args: PluginPart[]) => PluginPart,
): PluginPart {
  return bentTools((context) => ({
    get fs() {
      const provider = context.fs
      return new Proxy(provider, {
        get: (target, key) =>
          key === method ? (...args: PluginPart[]) => bent((...given) => target[method](...given), ...args) : Reflect.get(target, key),
      })
    },
  }))
}

const TOOLS: Record<string, PluginPart> = {
  'wrong footer': bentRender('read', /\(End of file - total (\d+) lines\)/, '(End of file, $1 lines)'),
  'footer with a wrong offset': bentRender('read', /Use offset=\d+/, 'Use offset=1'),
  'created called updated': bentRender('write', 'Created', 'Updated'),
  'replace_all not mentioned': bentRender('edit', ' All occurrences were successfully replaced.', ' successfully.'),
  'dropped event': bentTools(() => ({ emit: () => undefined })),
  'event for a failed read only': bentTools((context) => ({
    emit: (name: string, target: PluginPart, observation: PluginPart, exec: unknown) =>
      observation.kind === 'absent' && context.emit(name, target, observation, exec),
  })),
  'event without its actor': bentTools((context) => ({
    emit: (name: string, target: PluginPart, observation: PluginPart) => context.emit(name, target, observation, {}),
  })),
  'intent not asked': bentTools(() => ({
    waterfall: async (_name: string, _target: unknown, _exec: unknown, fallback: () => unknown) => fallback(),
  })),
  'stat asked twice': bentCall('stat', async (original, ...args) => {
    await original(...args)
    return original(...args)
  }),
  'signal not passed on': bentCall('writeText', (original, target, content, intent) => original(target, content, intent)),
  'cwd not passed on': bentCall('resolve', (original, path, options) => original(path, { signal: options?.signal })),
  'title of a card': bentDefinition('edit', (definition) => ({
    presentCall: (args: unknown) => ({ ...definition.presentCall(args), title: 'Edit' }),
  })),
  'result card missing': bentDefinition('read', () => ({ presentResult: () => undefined })),
  'diff missing in the metadata': bentDefinition('edit', (definition) => ({
    output: { ...definition.output, presentationMeta: () => ({ diffs: [] }) },
  })),
  'exclusive read': bentDefinition('read', () => ({ isConcurrencySafe: () => false })),
  'word in a description': bentDefinition('write', () => ({ description: 'Create or replace a UTF-8 text file.' })),
  'limit one line short': bentDefinition('read', (definition) => ({
    execute: async (args: unknown, exec: unknown) => {
      const value = await definition.execute(args, exec)
      return value.lines.length > 3 ? { ...value, lines: value.lines.slice(0, -1) } : value
    },
  })),
}

function bentPolicy(change: (name: string, listener: PluginPart) => PluginPart): PluginPart {
  return {
    name: originalPolicy.name,
    apply(context: PluginPart) {
      const view = new Proxy(context, {
        get: (target, key) =>
          key === 'on'
            ? (name: string, listener: PluginPart, options: unknown) => target.on(name, change(name, listener), options)
            : Reflect.get(target, key),
      })
      return originalPolicy.apply(view as never)
    },
  }
}

function onEvent(event: string, bent: (listener: PluginPart) => PluginPart): PluginPart {
  return bentPolicy((name, listener) => (name === event ? bent(listener) : listener))
}

const POLICIES: Record<string, PluginPart> = {
  'unseen files may be overwritten': onEvent('fs/write-intent', (listener) => async (...args: PluginPart[]) => {
    const intent = await listener(...args)
    return intent.kind === 'createIfAbsent' ? undefined : intent
  }),
  'unseen files may be edited': onEvent('fs/edit-intent', (listener) => async (target: unknown, actor: unknown, next: () => unknown) => {
    try {
      return await listener(target, actor, next)
    } catch {
      return undefined
    }
  }),
  'absence forgotten': onEvent(
    'fs/observed',
    (listener) => (target: unknown, observation: PluginPart, actor: unknown) =>
      observation.kind === 'absent' ? undefined : listener(target, observation, actor),
  ),
  'sessions mixed up': bentPolicy((_name, listener) => {
    return (target: unknown, second: PluginPart, third: PluginPart) => {
      const everyone = { agent: { session: SHARED_SESSION } }
      return typeof third === 'function' ? listener(target, everyone, third) : listener(target, second, everyone)
    }
  }),
}
const SHARED_SESSION = {}

/** @returns every wrong part in a composition of its own, with no difference allowed. */
export function mutantMatches(): Match[] {
  return [
    ...Object.entries(PROVIDERS).map(([name, provider]) => matchOf(`provider: ${name}`, { provider }, false)),
    ...Object.entries(CONFINING).map(([name, confined]) => matchOf(`confinement: ${name}`, { confined }, false)),
    ...Object.entries(TOOLS).map(([name, tools]) => matchOf(`tools: ${name}`, { tools }, true)),
    ...Object.entries(POLICIES).map(([name, policy]) => matchOf(`policy: ${name}`, { policy }, false)),
  ]
}
