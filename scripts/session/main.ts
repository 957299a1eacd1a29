/**
 * `main.ts`: the sample session. `main.ts DIR`: the read-only session on an absolute directory.
 * The exit code is 1 if an outcome was not as it should be.
 * @module
 */
import { FsError } from '@deepseek-ai/dsh-fs'
import { playDirectory } from './directory.ts'
import { playSample } from './sample.ts'

const [directory] = process.argv.slice(2)
try {
  const isRight = directory === undefined ? await playSample() : await playDirectory(directory)
  process.exitCode = isRight ? 0 : 1
} catch (error) {
  // Such as a directory that may not be listed. Its message is meant for the reader.
  if (!(error instanceof FsError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
