/** What `write` and `edit` share: their hooks and their cards. Contract: `write`, `edit`, sandbox escalation, error mapping. */
import type { FileDiff, ToolCallView, ToolResultView } from '@deepseek-ai/dsh-tools'
import { confinementOf } from '../confinement.ts'
import type { ToolHooks } from '../native.ts'
import type { ToolCall } from './call.ts'
import { explainMutationError } from './remedies.ts'
import type { Authorize } from './sandbox.ts'

/**
 * The hooks of a mutating call, without the intent that each tool asks for itself.
 *
 * @param call the call; it learns the policy that it runs under
 * @param authorize finds that policy; undefined if there is nothing to find out
 */
export function mutationHooks(call: ToolCall, authorize: Authorize | undefined): ToolHooks {
  const hooks: ToolHooks = { ...call.hooks(), explain: (error) => explainMutationError(error, call.policy) }
  if (authorize === undefined) return hooks
  call.isAuthorized = true
  return {
    ...hooks,
    async authorize() {
      const policy = await authorize()
      call.policy = policy
      return policy && { base: policy.workspaceRoot, confinement: confinementOf(policy) }
    },
  }
}

/** The card of a running call. */
export function diffCall(title: string, diff: FileDiff): ToolCallView {
  return { card: 'diff', title, diffs: [diff], locations: [{ path: diff.path }] }
}

/** The card of a finished call. */
export function diffResult(title: string, diffs: FileDiff[]): ToolResultView {
  return { card: 'diff', title, diffs }
}
