/** Connects a caller's AbortSignal with the token of a native call. */
import { Cancellation } from './native.ts'

/**
 * Runs one native call that can be cancelled. The token is made only if there is a signal, and the listener lives exactly
 * as long as the call, as a session's signal outlives thousands of calls.
 *
 * @param signal the caller's signal, or undefined
 * @param call receives the token (already cancelled if the signal is), or undefined without a signal
 * @returns what `call` returns; its errors pass through
 */
export async function withCancellation<T>(
  signal: AbortSignal | undefined,
  call: (cancel: Cancellation | undefined) => Promise<T>,
): Promise<T> {
  if (signal === undefined) return call(undefined)
  const token = new Cancellation()
  if (signal.aborted) {
    token.cancel()
    return call(token)
  }
  const onAbort = () => token.cancel()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await call(token)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
