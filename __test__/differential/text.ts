/** Text recipes, and the variety of texts that files and arguments are drawn from. */
import type { Piece, Text } from './operations.ts'
import type { Random } from './random.ts'

function pieceBytes(piece: Piece): Buffer {
  if (typeof piece === 'string') return Buffer.from(piece, 'utf8')
  if ('hex' in piece) return Buffer.from(piece.hex, 'hex')
  return Buffer.from(piece.repeat.repeat(piece.times), 'utf8')
}

/** @returns the bytes of a file with this text. */
export function textBytes(text: Text): Buffer {
  return Buffer.concat(text.map(pieceBytes))
}

/** @returns the text as a string for an argument; raw bytes are taken as Latin-1 characters. */
export function textString(text: Text): string {
  return text
    .map((piece) => {
      if (typeof piece === 'string') return piece
      return 'hex' in piece ? Buffer.from(piece.hex, 'hex').toString('latin1') : piece.repeat.repeat(piece.times)
    })
    .join('')
}

const WORDS = [
  'alpha',
  'beta',
  'x',
  'aa',
  'aaa',
  '',
  '  two',
  '\ttab',
  '界面',
  '🚀',
  'é',
  'e\u0301',
  '$&$1',
  '</content>',
  '1: y',
  'the end',
  '}',
  '\u2028',
  'a b',
  '\u00a0',
]
const BREAKS: Record<string, readonly string[]> = {
  lf: ['\n'],
  crlf: ['\r\n'],
  mixed: ['\n', '\r\n'],
  odd: ['\r\r\n', '\r\n', '\n'],
  cr: ['\r', '\n'],
}
const BOM = '\uFEFF'
const NOT_UTF8 = ['ff', 'c0af', 'eda080', 'f4908080', '80', 'e28228', 'fe00']
const CUT_SEQUENCES = ['e282', 'c3', 'f09f98', 'f0']

function drawLines(random: Random, count: number, style: string): Piece[] {
  const breaks = BREAKS[style]!
  const pieces = random.times(count, () => random.pick(WORDS) + random.pick(breaks))
  if (random.chance(0.3)) pieces.push(random.pick(WORDS))
  return pieces
}

/** A line about as long as the limit, with something at the cut that a careless cut gets wrong. */
function drawLongLine(random: Random, limit: number): Piece[] {
  const fill = random.weighted<readonly [string, number]>([
    [4, ['x', 1]],
    [2, ['é', 1]],
    [2, ['🚀', 2]],
    [1, ['界', 1]],
  ])
  const times = Math.max(0, Math.floor((limit + random.between(-3, 3)) / fill[1]))
  const tail = random.pick(['', '', 'y', '🚀tail', '\r', '\rhidden', '\r\r', 'z'.repeat(7), '界🚀'])
  const lead = random.chance(0.3) ? 'o' : ''
  return [lead, { repeat: fill[0], times }, tail, random.pick(['\n', '\r\n', ''])]
}

/** Limits that decide which sizes are interesting. */
export interface Sizes {
  lineLength: number
  lines: number
  bytes: number
}

/** @returns the content of a file: every kind the contract has a rule for. */
export function drawFileText(random: Random, sizes: Sizes): Text {
  const style = random.weighted([
    [6, 'lf'],
    [4, 'crlf'],
    [2, 'mixed'],
    [1, 'odd'],
    [1, 'cr'],
  ])
  const some = () => drawLines(random, random.between(1, 12), style)
  const kind = random.weighted([
    [50, 'plain'],
    [8, 'bom'],
    [2, 'two boms'],
    [4, 'empty'],
    [3, 'early nul'],
    [4, 'late nul'],
    [4, 'not utf8'],
    [2, 'cut'],
    [9, 'long line'],
    [6, 'many lines'],
    [2, 'large'],
    [2, 'one break'],
    [2, 'late break'],
  ])
  switch (kind) {
    case 'bom':
      return [BOM, ...some()]
    case 'two boms':
      return [BOM, BOM, ...some()]
    case 'empty':
      return random.chance(0.2) ? [BOM] : []
    case 'early nul':
      return [...some(), '\0', ...some()]
    case 'late nul':
      return [{ repeat: 'q', times: 8192 - random.between(-1, 2) }, '\0\n', ...some()]
    case 'not utf8':
      return [...some(), { hex: random.pick(NOT_UTF8) }, ...some()]
    case 'cut':
      return [...some(), { hex: random.pick(CUT_SEQUENCES) }]
    case 'long line':
      return [...some(), ...drawLongLine(random, sizes.lineLength), ...some()]
    case 'many lines':
      return [{ repeat: `ln${random.pick(BREAKS[style]!)}`, times: sizes.lines + random.between(-2, 3) }, ...some()]
    case 'large':
      return [{ repeat: 'é', times: Math.floor(sizes.bytes / 2) }, '\r\n', { repeat: 'big line\n', times: random.between(900, 8000) }]
    case 'one break':
      return [random.pick(['\n', '\r\n', '\r', '\n\n', '\r\n\r\n', '\r\r\n'])]
    case 'late break':
      return [{ repeat: 'w', times: 4096 - random.between(-1, 2) }, '\r\n', ...some()]
    default:
      return some()
  }
}

/** @returns the content argument of a write. */
export function drawContent(random: Random, sizes: Sizes): Text {
  return random.weighted<() => Text>([
    [60, () => drawLines(random, random.between(0, 8), random.pick(['lf', 'lf', 'crlf', 'mixed', 'odd', 'cr']))],
    [6, () => [BOM, ...drawLines(random, 2, 'lf')]],
    [4, () => []],
    [3, () => ['lone \uD83D high\n']],
    [2, () => ['low \uDE80\n', 'tail']],
    [3, () => ['nul \0 here\n']],
    [4, () => drawLongLine(random, sizes.lineLength)],
    [3, () => [{ repeat: 'row\n', times: sizes.lines + random.between(-1, 2) }]],
    [1, () => [{ repeat: '界', times: 90000 }]],
  ])()
}

/** @returns a short text for the arguments of an edit. */
export function drawSnippet(random: Random): Text {
  const parts = random.times(random.between(1, 3), () => random.pick(WORDS))
  return [parts.join(random.pick(['\n', '\n', '\r\n', ' ', '', '\r', '\r\r\n']))]
}
