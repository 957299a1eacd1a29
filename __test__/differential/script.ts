/** A failing sequence in a form that people read. */

import type { Sequence } from './operations.ts'
import type { Failure } from './play.ts'

function line(value: unknown): string {
  const { kind, do: action, ...rest } = value as Record<string, unknown>
  const text = JSON.stringify(rest)
  return `${String(kind ?? action)} ${text}`
}

/**
 * @param name of the composition.
 * @param seed of the run, and the number of the sequence in it, with which it can be played again.
 */
export function formatFailure(name: string, seed: number, number: number, sequence: Sequence, failure: Failure): string {
  return [
    `difference in "${name}", seed ${seed}, sequence ${number} (replay: npm run test:differential -- --seed ${seed} --only ${number})`,
    `  settings ${JSON.stringify(sequence.settings)}`,
    ...sequence.setup.map((change) => `  tree: ${line(change)}`),
    ...sequence.operations.map((operation, index) => `  ${index === failure.index ? '>' : ' '} ${index + 1}. ${line(operation)}`),
    `  played as: ${JSON.stringify(failure.operation)}`,
    ...failure.differences.flatMap(({ where, left, right }) => [`  at ${where}:`, `    expected ${left}`, `    actual   ${right}`]),
  ].join('\n')
}
