/** What the model is told to do about a failed `write` or `edit`. Contract: error mapping. */
import { FsError } from '@deepseek-ai/dsh-fs'
import { escalationHintMarker, type SandboxExecutionPolicy, sandboxDenialMarker } from '@deepseek-ai/dsh-sandbox'

/**
 * Maps an error of a mutation. Codes stay, and the original error becomes the cause.
 *
 * @param error what the provider or, for an edit, a listener threw
 * @param policy the sandbox policy that the call ran under, if any
 * @returns the error to report: a new one with a remedy, or the very same object
 */
export function explainMutationError(error: unknown, policy: SandboxExecutionPolicy | undefined): unknown {
  if (!(error instanceof FsError)) return error
  const message = remedied(error, policy)
  return message === undefined ? error : new FsError(message, error.code, { cause: error })
}

function remedied({ code, message }: FsError, policy: SandboxExecutionPolicy | undefined): string | undefined {
  switch (code) {
    case 'FS_SANDBOX_DENIED':
      // A denial without a policy was not the sandbox's doing as far as this tool knows: nothing could be escalated.
      return policy && `${sandboxDenialMarker(policy.mode)}\n${escalationHintMarker('operation')}`
    case 'FS_STALE_VERSION':
      return `${message} — re-read the file, then retry`
    case 'FS_NOT_OBSERVED':
      return `${message} — read the file, then retry`
    default:
      return undefined
  }
}
