import { type Gateway, GuardError, type RunDraft } from 'guard-gateway/core'
import type { ImportedRun } from '#lib/export-format'
import { storedId } from '#lib/ids'
import { newTraceId } from '#lib/trace'
import { traceFileErrors } from '#lib/trace-file'
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
  for (const [place, sent] of runs.entries()) {
    const found = { ...sent, run: storedIds(gateway, inProject(sent.run, instead), RUN_IDS) }
    const { trace_id } = found.run
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

const inProject = (run: RunDraft, project_id: string | undefined): RunDraft =>
  project_id === undefined ? run : { ...run, project_id }

const RUN_IDS = ['trace_id', 'project_id', 'session_id', 'agent_id'] as const

/** The record with these ids as they are stored. Throws INVALID_ID for one that is a key. */
export const storedIds = <R extends object>({ redact }: Gateway, record: R, names: readonly string[]): R => {
  let copy = record
  for (const name of names) {
    const id = record[name as keyof R]
    if (typeof id !== 'string') continue
    const stored = storedId(id, redact)
    if (stored === undefined)
      throw new GuardError(traceFileErrors.INVALID_ID, `"${name}" is a secret. Use ids that may be shown.`)
    if (stored !== id) copy = { ...copy, [name]: stored }
  }
  return copy
}
