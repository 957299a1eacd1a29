/** The names a sequence plays with. Nothing here leads out of the tree, except where only reading can happen. */
import type { Change, Settings } from './operations.ts'
import type { Random } from './random.ts'
import { drawFileText, type Sizes } from './text.ts'

const FILES = ['a.txt', 'b.md', 'c.py', 'sub/d.ts', 'sub/deep/e', '界 面.txt', '.hidden', 'x.PY', 'two  blanks.json']
const ABSENT = ['new1.txt', 'new2', 'new/dir/f.rs', 'sub/new.tsx', 'sub/gone/deeper/g.yml', '~', 'file:/x', 'q\'u"o#t?e%.sh']
const LINKS = ['link', 'dl/d.ts', 'dl/new.go', 'ghost', 'ghostdir/x', 'chain', 'hard', 'ln/e', 'up/a.txt']
const SPELLINGS = [
  './a.txt',
  'sub/../a.txt',
  'a.txt/',
  'sub//d.ts',
  '../outer.txt',
  '../work/b.md',
  '<D>/in/work/a.txt',
  '<D>/in/work/sub/./d.ts',
  'dl/../b.md',
  'ghost/../c.py',
  '../ghost2',
  'ln/../a.txt',
  '<D>/in/outer.txt',
]
const WRONG = [
  'a.txt/child',
  'a.txt/child/deeper',
  'loop',
  'loop/x',
  '',
  ' ',
  '\t\n',
  'nul\0byte',
  'sub',
  '.',
  '..',
  'dl',
  'ln',
  'sub/',
  'pipe',
  ' a.txt',
  'a.txt ',
  'caf\u00e9.txt',
  'cafe\u0301.txt',
  'line\nbreak.txt',
  'back\\slash.md',
  'ABC/../..hidden',
  'none/../../outer.txt',
]
const LONG = [
  'n'.repeat(255),
  'n'.repeat(256),
  `${'d/'.repeat(30)}f`,
  '界'.repeat(60),
  '界'.repeat(86),
  'm'.repeat(190),
  `${'l'.repeat(300)}/x`,
]

/** Paths that exist only to be read: no operation that writes ever gets one of them. */
const READ_ONLY = ['/dev/null', '/dev/zero', '/dev']

/** @returns a path for any operation. */
export function drawPath(random: Random): string {
  return random.pick(
    random.weighted([
      [62, FILES],
      [7, ABSENT],
      [14, LINKS],
      [10, SPELLINGS],
      [6, WRONG],
      [1.5, LONG],
    ]),
  )
}

/** @returns a path for an operation that cannot write. */
export function drawReadPath(random: Random): string {
  return random.chance(0.01) ? random.pick(READ_ONLY) : drawPath(random)
}

/** @returns a path of a directory, mostly. */
export function drawDirectory(random: Random): string {
  return random.chance(0.2)
    ? drawPath(random)
    : random.pick(['.', '..', 'sub', 'dl', 'sub/deep', 'ln', 'up', '<D>/in/work', 'many', 'many'])
}

/** @returns a path for `lstat`: links and directories, spelled in all ways. */
export function drawEntryPath(random: Random): string {
  return random.chance(0.4)
    ? drawReadPath(random)
    : random.pick(['link', 'chain', 'dl', 'dl/', 'ghost', 'loop', 'up', 'up/link', 'ln', 'hard', 'sub', 'pipe'])
}

/** @returns two paths whose containment is not just a matter of prefixes. */
export function drawContained(random: Random): [parent: string, child: string] {
  const parent = random.pick(['.', 'sub', 'dl', 'up', '..', 'a.txt', 'ln', 'gone'])
  return [
    parent,
    random.pick([parent, 'sub/deep/e', 'subway', 'sub/..data', 'sub..', '..work', 'a.txt.bak', 'dl/d.ts', 'gone/x', '../works', '..']),
  ]
}

/** @returns a name that outside changes may touch: no ambiguous spellings, nothing outside `<D>`. */
export function drawChangePath(random: Random): string {
  return random.pick(
    random.weighted([
      [60, FILES],
      [8, ABSENT.slice(0, 4)],
      [14, ['link', 'ghost', 'chain', 'hard', 'up', 'dl', 'ln', 'absent']],
      [6, ['sub', 'new', 'sub/deep', '../outer.txt', 'pipe']],
    ]),
  )
}

/** @returns the limits that make sizes interesting under these settings. */
export function sizesFor(settings: Settings): Sizes {
  return { lineLength: settings.readMaxLineLength ?? 2000, lines: settings.readLimit ?? 2000, bytes: settings.readMaxBytes ?? 51200 }
}

/** @returns the changes that build the first tree of a sequence. */
export function drawSetup(random: Random, settings: Settings): Change[] {
  const sizes = sizesFor(settings)
  const setup: Change[] = [
    { do: 'mkdir', path: 'sub' },
    { do: 'mkdir', path: 'sub/deep' },
  ]
  for (const path of [...FILES, '../outer.txt', 'caf\u00e9.txt', 'line\nbreak.txt']) {
    if (random.chance(0.95)) setup.push({ do: 'write', path, text: drawFileText(random, sizes) })
  }
  const links: Change[] = [
    { do: 'symlink', path: 'link', to: 'a.txt' },
    { do: 'symlink', path: 'chain', to: 'link' },
    { do: 'symlink', path: 'dl', to: 'sub' },
    { do: 'symlink', path: 'ln', to: 'sub/deep' },
    { do: 'symlink', path: 'up', to: '<D>/in/work' },
    { do: 'symlink', path: 'ghost', to: 'absent' },
    { do: 'symlink', path: 'ghostdir', to: 'nodir' },
    { do: 'symlink', path: '../ghost2', to: '<D>/nowhere/x' },
    { do: 'link', path: 'a.txt', to: 'hard' },
    { do: 'chmod', path: 'b.md', mode: 0o754 },
    { do: 'chmod', path: 'c.py', mode: 0o4711 },
    { do: 'chmod', path: 'x.PY', mode: 0o444 },
  ]
  setup.push(...links.filter(() => random.chance(0.8)))
  // A loop makes listings of its directory fail, so it is not always there.
  if (random.chance(0.2)) setup.push({ do: 'symlink', path: 'loop', to: 'loop' })
  // For a root user these modes change nothing but themselves; for others they deny.
  const denied: Change[] = [
    { do: 'chmod', path: '.hidden', mode: 0o000 },
    { do: 'chmod', path: 'sub/deep', mode: random.pick([0o555, 0o000, 0o600]) },
    { do: 'chmod', path: 'sub', mode: 0o555 },
  ]
  setup.push(...denied.filter(() => random.chance(0.15)))
  if (random.chance(0.05)) setup.push({ do: 'fifo', path: 'pipe' })
  if (random.chance(0.35)) setup.push(...manyEntries(random))
  return setup
}

/** A directory whose listing order needs care. */
function manyEntries(random: Random): Change[] {
  const names = ['Q', 'q', '12', '3', '_u', '.t', 'ü', 'v', 'Z', 'ä', 'a-b', 'a_b', 'a.b', 'ab', '界', '10', '9', ' s', 'É', 'e', '🚀']
  return [
    { do: 'mkdir', path: 'many' },
    ...names.filter(() => random.chance(0.7)).map((name): Change => ({ do: 'write', path: `many/${name}`, text: [name] })),
    { do: 'symlink', path: 'many/broken', to: 'nothing' },
    { do: 'symlink', path: 'many/dir', to: '../sub' },
  ]
}
