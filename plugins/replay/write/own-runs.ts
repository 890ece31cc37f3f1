import { type Fragment, GuardError } from 'guard-gateway/core'
import { currentPrincipal } from 'guard-gateway/lib/principal'
import { replayErrors } from '../error-codes.ts'
import type { RunWriter } from './run-writer.ts'

/** Refuses what a key that is bound to projects writes into other projects, or into a run of another. Throws TRACE_CONFLICT. */
export const checkOwn = async ({ runs }: RunWriter, { run: { trace_id, project_id } }: Fragment): Promise<void> => {
  const projects = currentPrincipal()?.projects ?? null
  if (projects === null) return
  if (project_id !== undefined && !projects.includes(project_id))
    throw new GuardError(
      replayErrors.TRACE_CONFLICT,
      `The key is bound to ${projects.join(', ')}, and the run names another project. Name one of these.`,
    )
  const known = await runs.get(trace_id)
  if (known !== undefined && !projects.includes(known.row.project_id)) throw new GuardError(replayErrors.TRACE_CONFLICT)
  if (known === undefined && project_id === undefined)
    throw new GuardError(
      replayErrors.TRACE_CONFLICT,
      `The key is bound to ${projects.join(', ')}, and the run names no project. Name one of these.`,
    )
}
