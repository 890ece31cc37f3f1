import { type Gateway, GuardError } from 'guard-gateway/core'
import type { ImportedRun } from 'guard-gateway/lib/export-format'
import { newTraceId } from 'guard-gateway/lib/trace'
import { traceFileErrors } from 'guard-gateway/lib/trace-file'
import { replayErrors } from '../error-codes.ts'
import { isAddressable } from '../run-address.ts'

/** Action for a run whose trace id exists: assign a new id, skip the run, or fail the import. */
export type OnConflict = 'remap' | 'skip' | 'fail'

export interface ImportOptions {
  readonly on_conflict: OnConflict
  /** Overrides the project of the file. */
  readonly project_id?: string
  /** Report only, import nothing. */
  readonly dry_run?: boolean
}

/** A run to import, under its assigned id. */
export interface Planned {
  readonly found: ImportedRun
  readonly trace_id: string
  readonly remapped: boolean
  /** Number of records so far. */
  readonly taken: { spans: number; events: number; artifacts: number }
}

/** Runs to import, by position in the file, and skipped runs. */
export interface Plan {
  readonly plans: ReadonlyMap<number, Planned>
  readonly skipped: readonly { readonly source_trace_id: string; readonly existing_trace_id: string }[]
}

/** Limit of spans: those of a run, and an implicit root. */
const MAX_SPANS = 50_001

/** Plans the action for each run. Throws TRACE_EXISTS, RUN_FULL and INVALID_ID. */
export const planned = async (
  gateway: Gateway,
  runs: readonly ImportedRun[],
  { on_conflict, project_id: instead }: ImportOptions,
): Promise<Plan> => {
  const plans = new Map<number, Planned>()
  const skipped: Plan['skipped'][number][] = []
  for (const [place, found] of runs.entries()) {
    const { trace_id, project_id, session_id, agent_id } = found.run
    checkIds(gateway, [trace_id, instead ?? project_id, session_id, agent_id])
    if (found.spans > MAX_SPANS)
      throw new GuardError(
        replayErrors.RUN_FULL,
        `Run "${trace_id}" has ${found.spans} spans; a run has at most ${MAX_SPANS}.`,
      )
    const conflict = (await gateway.storage.get('runs', trace_id)) !== undefined
    if (conflict && on_conflict === 'fail')
      throw new GuardError(replayErrors.TRACE_EXISTS, `Run "${trace_id}" exists already. Nothing was imported.`)
    if (conflict && on_conflict === 'skip') skipped.push({ source_trace_id: trace_id, existing_trace_id: trace_id })
    else plans.set(place, planOf(gateway, found, conflict || !isAddressable(trace_id)))
  }
  return { plans, skipped }
}

const planOf = (gateway: Gateway, found: ImportedRun, remapped: boolean): Planned => ({
  found,
  trace_id: remapped ? newTraceId(gateway.clock.now()) : found.run.trace_id,
  remapped,
  taken: { spans: 0, events: 0, artifacts: 0 },
})

/** Ids are displayed and indexed as they are, so they must not contain secrets. */
export const checkIds = ({ redact }: Gateway, ids: readonly (string | null | undefined)[]): void => {
  if (ids.some((id) => typeof id === 'string' && redact.looksSecret(id)))
    throw new GuardError(traceFileErrors.INVALID_ID, 'An id looks like a secret. Use ids that may be shown.')
}
