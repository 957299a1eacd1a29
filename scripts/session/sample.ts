/**
 * A session on a copy of the sample workspace: what works, and what is refused and why.
 * @module
 */
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Harness, type Outcome, startHarness } from './harness.ts'
import { Transcript } from './transcript.ts'

const SAMPLE = fileURLToPath(new URL('../../sample', import.meta.url))

/** Plays the session. Returns whether every outcome was as it should be. */
export async function playSample(): Promise<boolean> {
  const home = mkdtempSync(join(realpathSync(tmpdir()), 'dsh-fs-native-'))
  // Also when a reader closes the pipe, or presses Ctrl-C.
  process.once('exit', () => rmSync(home, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const workspace = join(home, 'shop')
  cpSync(SAMPLE, workspace, { recursive: true })
  const harness = await startHarness(workspace)
  try {
    const session = new Session(harness, workspace)
    await session.readInPages()
    await session.editUnread()
    await session.readAndEdit()
    await session.writeStale()
    await session.readAgainAndWrite()
    await session.create()
    await session.editCrlf()
    await session.readOtherEncoding()
    await session.readBinary()
    return session.transcript.end()
  } finally {
    await harness.stop()
  }
}

class Session {
  readonly transcript = new Transcript()
  private readonly harness: Harness
  private readonly workspace: string

  constructor(harness: Harness, workspace: string) {
    this.harness = harness
    this.workspace = workspace
  }

  async readInPages(): Promise<void> {
    this.transcript.step('Read a file in two pages')
    const lines = this.text('src/basket.ts').trimEnd().split('\n')
    const first = await this.call('read', { file_path: 'src/basket.ts', limit: 8 })
    this.check(
      'the first page says where to go on',
      first.text.includes(`\n8: ${lines[7]}\n\n(Showing lines 1-8 of ${lines.length}. Use offset=9 to continue.)`),
    )
    const last = await this.call('read', { file_path: 'src/basket.ts', offset: 40 })
    this.check(
      'the last page keeps the line numbers and says that it is the end',
      last.text.includes(`\n40: ${lines[39]}\n`) && last.text.includes(`(End of file - total ${lines.length} lines)`),
    )
  }

  async editUnread(): Promise<void> {
    this.transcript.step('Edit a file that was not read')
    const before = this.bytes('README.md')
    const outcome = await this.call('edit', { file_path: 'README.md', old_string: '8 to 18', new_string: '8 to 20' })
    this.refused(outcome, 'FS_NOT_OBSERVED', ' first — read the file, then retry')
    this.check('the file is as it was', this.bytes('README.md').equals(before))
  }

  async readAndEdit(): Promise<void> {
    this.transcript.step('Read it, then edit it')
    await this.call('read', { file_path: 'README.md' })
    const outcome = await this.call('edit', { file_path: 'README.md', old_string: '8 to 18', new_string: '8 to 20' })
    this.check('the edit is reported', !outcome.isError && outcome.text.endsWith('README.md has been updated successfully.'))
    this.check('the file holds it', this.text('README.md').includes('Opening hours: 8 to 20.\n'))
    this.showCard(outcome, 'Opening hours: 8 to 18.', 'Opening hours: 8 to 20.')
  }

  async writeStale(): Promise<void> {
    this.transcript.step('Write over a file that somebody else has changed meanwhile')
    this.transcript.note('an editor adds a line to README.md')
    writeFileSync(join(this.workspace, 'README.md'), `${this.text('README.md')}Closed on Sundays.\n`)
    const before = this.bytes('README.md')
    const outcome = await this.call('write', { file_path: 'README.md', content: '# Corner shop\n' })
    this.refused(outcome, 'FS_STALE_VERSION', 'file changed since it was read — re-read the file, then retry')
    this.check('the other change is still there', this.bytes('README.md').equals(before))
  }

  async readAgainAndWrite(): Promise<void> {
    this.transcript.step('Read it again, then write it')
    await this.call('read', { file_path: 'README.md', offset: 9 })
    const content = this.text('README.md').replace('A till for a small shop.', 'A till for a small shop, in TypeScript.')
    const outcome = await this.call('write', { file_path: 'README.md', content })
    this.check('the write is reported', !outcome.isError && outcome.text.includes('\nUpdated file\n'))
    this.check('the file holds it', this.text('README.md') === content)
    this.showCard(outcome, 'A till for a small shop.', 'A till for a small shop, in TypeScript.')
  }

  async create(): Promise<void> {
    this.transcript.step('Write a new file, in a directory that is not there yet')
    const content = '# 2026\n\n- Open until 20 o’clock 🕗\n'
    const outcome = await this.call('write', { file_path: 'docs/news.md', content })
    this.check('the creation is reported', !outcome.isError && outcome.text.includes('\nCreated file\n'))
    this.check('the file holds it', this.text('docs/news.md') === content)
  }

  async editCrlf(): Promise<void> {
    this.transcript.step('Edit a file with CRLF line ends')
    await this.call('read', { file_path: 'tools/pack.bat' })
    const before = this.bytes('tools/pack.bat').toString('latin1')
    const change = { old_string: 'copy src\\*.ts %OUT%\necho done', new_string: 'copy src\\*.ts %OUT%\ncopy README.md %OUT%\necho done' }
    const outcome = await this.call('edit', { file_path: 'tools/pack.bat', ...change })
    const after = this.bytes('tools/pack.bat')
    this.transcript.note(`the end of the file in bytes: ${JSON.stringify(after.subarray(-42).toString('latin1'))}`)
    this.check('the edit is reported', !outcome.isError)
    this.check(
      'every line still ends in CRLF, and nothing else has changed',
      after.toString('latin1') === before.replace('echo done', 'copy README.md %OUT%\r\necho done'),
    )
    this.showCard(outcome, 'echo done', 'copy README.md %OUT%\necho done')
  }

  async readOtherEncoding(): Promise<void> {
    this.transcript.step('Read a text that is not UTF-8 (GBK)')
    this.refused(await this.call('read', { file_path: 'data/prices-gbk.csv' }), 'FS_NOT_TEXT', ': invalid UTF-8 text')
  }

  async readBinary(): Promise<void> {
    this.transcript.step('Read a binary file')
    this.refused(await this.call('read', { file_path: 'assets/shop.ico' }), 'FS_NOT_TEXT', ': binary file')
  }

  private async call(name: string, args: Record<string, unknown>): Promise<Outcome> {
    const outcome = await this.harness.call(name, args)
    this.transcript.call(name, args, outcome)
    return outcome
  }

  private check(what: string, isRight: boolean): void {
    this.transcript.check(what, isRight)
  }

  private refused(outcome: Outcome, code: string, ending: string): void {
    this.check(`refused with ${code}`, outcome.isError && outcome.code === code && outcome.text.endsWith(ending))
  }

  private showCard({ card }: Outcome, removed: string, added: string): void {
    if (card?.card !== 'diff') return this.check('there is a diff card', false)
    this.transcript.diffCard(card)
    const [diff] = card.diffs
    this.check(
      'the diff card shows the change',
      card.diffs.length === 1 && diff?.oldText?.includes(removed) === true && diff.newText.includes(added),
    )
  }

  private bytes(name: string): Buffer {
    return readFileSync(join(this.workspace, name))
  }

  private text(name: string): string {
    return this.bytes(name).toString('utf8')
  }
}
