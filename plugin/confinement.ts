/** What a sandbox policy lets a mutation change, in the form that the engine takes. Contract: sandbox, policy object. */
import { tmpdir } from 'node:os'
import type { SandboxExecutionPolicy } from '@deepseek-ai/dsh-sandbox'
import type { Confinement } from './native.ts'

/**
 * The roots are those of the host's `writableRoots`; the engine makes them canonical itself, off the event loop.
 *
 * @param policy the policy of one call
 */
export function confinementOf({ mode, workspaceRoot }: SandboxExecutionPolicy): Confinement {
  const temporary = tmpdir()
  return { mode, roots: temporary === '/tmp' ? [workspaceRoot, temporary] : [workspaceRoot, '/tmp', temporary] }
}
