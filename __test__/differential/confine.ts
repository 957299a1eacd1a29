/**
 * Puts a drawn sequence under confinement: its deployment gets a default, some of its paths lead over the boundary of the
 * workspace, some of its calls ask for wider access, and outside changes move the boundary.
 */
import type {
  AgentName,
  Answer,
  Change,
  Confinement,
  Operation,
  ProviderOperation,
  QueueOperation,
  Sequence,
  ToolOperation,
} from './operations.ts'
import type { Random } from './random.ts'

/** What lies around the workspace `in/work`, and the links between there and the workspace. */
const SURROUNDINGS: readonly Change[] = [
  { do: 'mkdir', path: '../beside' },
  { do: 'mkdir', path: '../temp' },
  { do: 'mkdir', path: '../work-evil' },
  { do: 'write', path: '../beside/s.txt', text: ['one outside\n'] },
  { do: 'write', path: '../work-evil/a.txt', text: ['two outside\n'] },
  { do: 'write', path: '../temp/t.txt', text: ['temporary\r\n'] },
  { do: 'symlink', path: '../wl', to: 'work' },
  { do: 'symlink', path: '../beside/back', to: '../work' },
  { do: 'symlink', path: '../temp/out', to: '<D>/in/beside' },
  { do: 'symlink', path: 'out', to: '../beside' },
  { do: 'symlink', path: 'sub/deep/out', to: '../../../beside' },
  { do: 'symlink', path: 'outfile', to: '<D>/in/beside/s.txt' },
  { do: 'symlink', path: 'outchain', to: 'out/s.txt' },
  { do: 'symlink', path: 'outghost', to: '../beside/absent' },
  { do: 'symlink', path: 'outnowhere', to: '../beside/nowhere' },
  { do: 'symlink', path: 'top', to: '..' },
  { do: 'symlink', path: 'totemp', to: '../temp' },
  { do: 'link', path: '../beside/s.txt', to: 'outhard' },
]

const OUTSIDE = [
  '../beside/s.txt',
  '../beside/new.txt',
  '<D>/in/beside/s.txt',
  '<D>/in/beside/n/m/new.txt',
  '<D>/in/work/../beside/s.txt',
  '../work-evil/a.txt',
  '<D>/in/work-evil/new.txt',
  '<D>/in/outer.txt',
]
const THROUGH_LINKS = [
  'out/s.txt',
  'out/n/new.txt',
  'out/../a.txt',
  'sub/deep/out/s.txt',
  'outfile',
  'outchain',
  'outghost',
  'outnowhere/new.txt',
  'outhard',
  'top/beside/s.txt',
  'top/work/a.txt',
  'out/back/a.txt',
  '../beside/back/new.txt',
]
const SPELLED_BY_LINK = ['<D>/in/wl/a.txt', '<D>/in/wl/new.txt', '<D>/in/wl/out/s.txt', '<D>/in/wl/../beside/s.txt']
const TEMPORARY = ['../temp/t.txt', '<D>/in/temp/n/new.txt', 'totemp/t.txt', 'totemp/out/s.txt', '<D>/in/temp/out/new.txt']

const MODES = ['read-only', 'workspace-write', 'danger-full-access'] as const
const ROOTS = ['<D>/in/work', '<D>/in/work', '<D>/in/work', '<D>/in/wl', '<D>/in/work/sub', '<D>/in/beside', '<D>/in/gone']

function drawMode(random: Random): Confinement['mode'] {
  return random.weighted([
    [2, 'read-only'],
    [7, 'workspace-write'],
    [1, 'danger-full-access'],
  ])
}

const drawConfinement = (random: Random): Confinement => ({ mode: drawMode(random), root: random.pick(ROOTS) })

function drawBoundaryPath(random: Random): string {
  return random.pick(
    random.weighted([
      [5, OUTSIDE],
      [6, THROUGH_LINKS],
      [2, SPELLED_BY_LINK],
      [2, TEMPORARY],
    ]),
  )
}

/** Outside changes that move the boundary: links that lead elsewhere, and roots that come and go. */
function drawBoundaryChanges(random: Random): Change[] {
  const relinked = (path: string, to: string): Change[] => [
    { do: 'remove', path },
    { do: 'symlink', path, to },
  ]
  return random.weighted<() => Change[]>([
    [5, () => relinked(random.pick(['out', 'dl', 'ln', 'sub', 'a.txt']), random.pick(['../beside', 'sub/deep', '../temp', '.', 'absent']))],
    [2, () => relinked('../wl', random.pick(['work', 'beside', 'work-evil', 'absent']))],
    [2, () => [{ do: 'write', path: random.pick(['../beside/s.txt', '../temp/t.txt', '../gone']), text: ['anew\n'] }]],
    [1, () => [{ do: 'mkdir', path: '../gone' }]],
    [1, () => [{ do: 'remove', path: random.pick(['../beside', '../temp', '../wl', '../gone', '../beside/s.txt']) }]],
    [0.5, () => [{ do: 'rename', path: '../work', to: random.pick(['../beside/taken', '../moved']) }]],
  ])()
}

function drawAnswer(random: Random): Answer {
  return random.weighted([
    [6, 'allowed-once'],
    [2, 'rejected'],
    [2, 'cancelled'],
    [1, 'unavailable'],
    [1, 'pass'],
    [1, 'throw'],
    [1, 'abort'],
  ])
}

/** @returns the same call with the two arguments that ask for wider access, and what comes of the question. */
function escalated(random: Random, operation: ToolOperation): ToolOperation {
  if ('notObject' in operation.args) return operation
  const mode = random.pick(['workspace-write', 'danger-full-access', 'danger-full-access'])
  const args = { ...operation.args, sandbox_permissions: mode, justification: random.chance(0.95) ? 'it must be' : ' ' }
  return { ...operation, args, answer: drawAnswer(random) }
}

/** Gives the same operations names, agents and policies that matter under confinement. */
class Confiner {
  private readonly random: Random
  /** A path or agent that is replaced is replaced everywhere, so that operations go on meeting. */
  private readonly paths = new Map<string, string>()
  private readonly agents = new Map<AgentName, AgentName>()

  constructor(random: Random) {
    this.random = random
  }

  private path(path: string): string {
    if (!this.paths.has(path)) this.paths.set(path, this.random.chance(0.45) ? drawBoundaryPath(this.random) : path)
    return this.paths.get(path)!
  }

  private agent(agent: AgentName): AgentName {
    const other = (): AgentName =>
      this.random.weighted([
        [6, 'via'],
        [4, 'beside'],
        [1, 'gone'],
      ])
    if (!this.agents.has(agent)) this.agents.set(agent, this.random.chance(0.25) ? other() : agent)
    return this.agents.get(agent)!
  }

  private tool(operation: ToolOperation): ToolOperation {
    const { args } = operation
    const file = 'notObject' in args ? undefined : args.file_path
    const call = { ...operation, agent: this.agent(operation.agent) }
    return typeof file === 'string' ? { ...call, args: { ...args, file_path: this.path(file) } } : call
  }

  /** What a model does: it tries, and asks for more when it was refused. */
  private attempts(operation: ToolOperation): ToolOperation[] {
    const call = this.tool(operation)
    if (call.tool !== 'write' && call.tool !== 'edit') return [call]
    const { random } = this
    return random.weighted<() => ToolOperation[]>([
      [4, () => [call]],
      [2, () => [escalated(random, call)]],
      [3, () => [call, escalated(random, call)]],
    ])()
  }

  private provider(operation: ProviderOperation): ProviderOperation {
    // What a directory holds, and what lies in it, is told without looking at policies.
    const apart = operation.method === 'contains' || operation.method === 'listDir'
    const call = apart ? operation : { ...operation, path: this.path(operation.path) }
    const mutates = call.method === 'writeText' || call.method === 'editText'
    return mutates && this.random.chance(0.6) ? { ...call, policy: drawConfinement(this.random) } : call
  }

  /** A confined write looks at the disk before it queues, so the order of several is nobody's contract: these do not look. */
  private queue(operation: QueueOperation): QueueOperation {
    const policy = (): Confinement => ({ mode: this.random.chance(0.15) ? 'read-only' : 'danger-full-access', root: '<D>/in/work' })
    const calls = operation.calls.map((call) => ({ ...call, policy: policy() }))
    return { ...operation, path: this.path(operation.path), calls }
  }

  private confined(operation: Operation): Operation[] {
    switch (operation.kind) {
      case 'tool':
        return this.attempts(operation)
      case 'parallel':
        return [{ ...operation, calls: operation.calls.map((call) => this.tool(call)) }]
      case 'provider':
        return [this.provider(operation)]
      case 'queue':
        return [this.queue(operation)]
      case 'change':
        return this.random.chance(0.5) ? [operation] : drawBoundaryChanges(this.random).map((change) => ({ kind: 'change', change }))
      default:
        return [operation]
    }
  }

  operations(list: readonly Operation[]): Operation[] {
    return list.flatMap((operation): Operation[] => {
      const calls = this.confined(operation)
      if (!this.random.chance(0.1)) return calls
      return [
        { kind: 'mode', agent: this.agent(this.random.pick(['main', 'main', 'twin', 'sub', 'bare'])), mode: this.random.pick(MODES) },
        ...calls,
      ]
    })
  }
}

/** @returns the sequence under confinement, with as many operations. */
export function confine(random: Random, sequence: Sequence): Sequence {
  const sandbox = { ...drawConfinement(random), approval: random.chance(0.85) }
  return {
    settings: { ...sequence.settings, sandbox },
    setup: [...sequence.setup, ...SURROUNDINGS],
    operations: new Confiner(random).operations(sequence.operations).slice(0, sequence.operations.length),
  }
}
