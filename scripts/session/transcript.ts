/**
 * Prints a session for a human reader, and counts what was not as it should be.
 * @module
 */
import type { DiffResultView } from '@deepseek-ai/dsh-tools'
import type { Outcome } from './harness.ts'

/** More of one line is not shown; the model gets more. */
const SHOWN_WIDTH = 150

export class Transcript {
  private steps = 0
  private checks = 0
  private wrong = 0

  /** Begins a numbered step. */
  step(title: string): void {
    this.steps += 1
    console.log(`\n${`── ${this.steps}. ${title} `.padEnd(100, '─')}`)
  }

  /** Something that happens outside of the tools. */
  note(text: string): void {
    print('note ', text)
  }

  /** A tool call and what the model gets for it. */
  call(name: string, args: Record<string, unknown>, outcome: Outcome): void {
    const shown = Object.entries(args).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    print('model', `${name}(${shown.join(', ')})`)
    print(outcome.isError ? 'error' : 'tool ', outcome.text)
  }

  /** The card that a user interface shows for a change, in the manner of a unified diff. */
  diffCard(card: DiffResultView): void {
    print('card ', card.title ?? '')
    for (const { path, oldText, newText } of card.diffs) {
      print('     ', path)
      for (const line of diffLines(oldText ?? '', newText)) print('     ', line)
    }
  }

  /** Says whether something is as it should be. */
  check(what: string, isRight: boolean): void {
    this.checks += 1
    if (!isRight) this.wrong += 1
    print(isRight ? 'ok   ' : 'WRONG', what)
  }

  /** Prints the count of checks. Returns whether all were right. */
  end(): boolean {
    const right = this.checks - this.wrong
    console.log(`\n${right} of ${this.checks} outcomes as they should be${this.wrong === 0 ? '.' : `, ${this.wrong} NOT.`}`)
    return this.wrong === 0
  }
}

/** A label before the first line, the rest below it. Control characters are made visible: a file must not steer the terminal. */
function print(label: string, text: string): void {
  text.split('\n').forEach((line, index) => {
    const clean = line.replace(/\r$/, '␍').replace(/\p{Cc}/gu, (character) => (character === '\t' ? '  ' : '·'))
    const cut = clean.length > SHOWN_WIDTH ? `${clean.slice(0, SHOWN_WIDTH)} … (cut here only)` : clean
    console.log(`${index === 0 ? label : '     '}  ${cut}`.trimEnd())
  })
}

/** The lines before and after a change: equal ones at both ends with a blank, the others with `-` and `+`. */
function diffLines(before: string, after: string): string[] {
  const old = before.split('\n')
  const now = after.split('\n')
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1
  return [
    ...old.slice(0, head).map((line) => `  ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `- ${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+ ${line}`),
    ...now.slice(now.length - tail).map((line) => `  ${line}`),
  ]
}
