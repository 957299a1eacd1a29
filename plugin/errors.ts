/** Turns the failures of the engine into the host's error class. Contract: error codes and causes. */
import { FsError, type FsErrorCode } from '@deepseek-ai/dsh-fs'
import type { SystemCause } from './native.ts'

/**
 * Makes the `FsError` for a failure that the engine reports. The class is the host's own, so that `instanceof` and the
 * structured error of a tool result work.
 *
 * @param message the complete text, as the model reads it
 * @param code one of the host's filesystem error codes
 * @param cause the failed system call, if there was one; becomes a plain Error with `code`, `errno` and `syscall`
 * @returns the error, not thrown
 */
export function createFsError(message: string, code: string, cause?: SystemCause): FsError {
  return new FsError(message, code as FsErrorCode, cause === undefined ? undefined : { cause: systemError(cause) })
}

/** The shape of Node's own system errors, which callers of the original provider may look for in `cause`. */
function systemError({ message, code, errno, syscall }: SystemCause): Error {
  return Object.assign(new Error(message), { code, errno, syscall })
}
