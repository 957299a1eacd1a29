/** Sandbox escalation for `write` and `edit`: what to advertise and under which policy a call runs. Contract: sandbox escalation. */
import type { Context } from '@deepseek-ai/cordis'
import { approveEscalation, ESCALATION_TARGETS, type SandboxExecutionPolicy, validateEscalationArgs } from '@deepseek-ai/dsh-sandbox'
import type {} from '@deepseek-ai/dsh-sandbox-policy'
import type { ToolRunContext } from '@deepseek-ai/dsh-tools'
import type {} from '@deepseek-ai/dsh-user-approval'

const ESCALATION_FIELDS = {
  sandbox_permissions: {
    type: 'string',
    enum: ESCALATION_TARGETS,
    description:
      'The wider sandbox mode this file operation needs. Only valid as a one-shot retry of an operation the sandbox just denied; requires justification and user approval.',
  },
  justification: {
    type: 'string',
    description:
      'Required with sandbox_permissions: one sentence for the user explaining why this exact file operation needs the wider access.',
  },
} as const

/** The escalation arguments of a call. They are checked against the schema only where it advertises them. */
export interface EscalationArgs {
  readonly sandbox_permissions?: string
  readonly justification?: string
}

/** Finds the policy of a call before any file is touched; rejects if the call must not run. */
export type Authorize = () => Promise<SandboxExecutionPolicy | undefined>

/** The sandbox side of the mutating tools, fixed for as long as one provider is mounted. */
export interface SandboxController {
  /** Parameters to add to a tool: both escalation fields, or none under a provider that does not confine. */
  readonly fields: typeof ESCALATION_FIELDS
  /**
   * Prepares the authorization of one call.
   *
   * @param toolName the tool that the user is asked about
   * @param args the escalation arguments
   * @param exec the call
   * @returns undefined if there is nothing to find out
   */
  authorization(toolName: string, args: EscalationArgs, exec: ToolRunContext): Authorize | undefined
}

/**
 * Looks at the mounted provider once.
 *
 * @param ctx the plugin's context
 * @throws Error if the provider confines and there is no policy service to say how
 */
export function sandboxController(ctx: Context): SandboxController {
  const confines = ctx.fs.sandboxMode !== undefined
  if (confines) policyService(ctx)

  return {
    // As all fields are optional, their readers deal with their absence anyway.
    fields: confines ? ESCALATION_FIELDS : ({} as typeof ESCALATION_FIELDS),
    authorization(toolName, args, exec) {
      const asksForMore = args.sandbox_permissions !== undefined || args.justification !== undefined
      if (!confines && !asksForMore) return undefined
      return () => authorize(ctx, confines, toolName, args, exec)
    },
  }
}

async function authorize(ctx: Context, confines: boolean, toolName: string, args: EscalationArgs, exec: ToolRunContext) {
  const { sandbox_permissions: requestedMode, justification } = args
  validateEscalationArgs(requestedMode, justification)
  const standing = confines ? standingPolicy(ctx, exec) : undefined
  // Valid arguments come as a pair, so this is the call that asks for nothing.
  if (requestedMode === undefined || justification === undefined) return standing
  if (standing === undefined) {
    throw new Error('sandbox_permissions is not available in this composition (no sandboxing filesystem to escalate)')
  }
  const mode = await approveEscalation(
    { requestedMode, justification, effectiveMode: standing.mode, subject: 'operation' },
    { approver: ctx.get('approval'), agent: exec.agent, callId: exec.callId, toolName, signal: exec.signal },
  )
  return { ...standing, mode }
}

function standingPolicy(ctx: Context, exec: ToolRunContext): SandboxExecutionPolicy {
  const session = exec.agent?.session
  return policyService(ctx).resolve(session === undefined ? {} : { session })
}

/** The policy service. Not a dependency of the plugin, as only a provider that confines needs it. */
function policyService(ctx: Context) {
  const service = ctx.get('sandboxPolicy')
  if (service === undefined) throw new Error('tool-fs: the mounted filesystem confines but ctx.sandboxPolicy is missing')
  return service
}
