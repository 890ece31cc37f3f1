import {
  type Fragment,
  type FragmentArtifact,
  type FragmentEvent,
  type Gateway,
  GuardError,
  type ImportWarning,
  newTraceId,
  type SpanDraft,
} from 'guard-gateway/core'
import type { FoundRun, Slice } from './import-file.ts'
import { keptIds, newIds } from './import-ids.ts'
import type { ImportFile } from './import-reader.ts'
import { urlOf } from './ingest.ts'
import type { Keeper } from './keeper.ts'

/** What happens to a run whose trace id is taken: it gets another one, is left out, or nothing is imported. */
export type OnConflict = 'remap' | 'skip' | 'fail'

export interface ImportAnswer {
  readonly imported: readonly {
    /** Of a dry run that of the file, since the one it would get is not known yet. */
    readonly trace_id: string
    readonly source_trace_id: string
    readonly remapped: boolean
    /** A stored run that says the same. */
    readonly identical_to: string | null
    readonly spans: number
    readonly events: number
    readonly artifacts: number
    readonly url: string
  }[]
  readonly skipped: readonly { readonly source_trace_id: string; readonly existing_trace_id: string }[]
  readonly warnings: readonly (ImportWarning | { readonly code: string; readonly message: string })[]
  /** Nothing was stored. */
  readonly dry_run?: true
}

export interface ImportOptions {
  readonly on_conflict: OnConflict
  /** Instead of the project that the file names. */
  readonly project_id?: string
  /** Say what would be imported, and import nothing. */
  readonly dry_run?: boolean
}

/** A run of the file that is to be imported, under the id that it gets. */
interface Planned {
  readonly found: FoundRun
  readonly trace_id: string
  readonly remapped: boolean
  readonly identical_to: string | null
  readonly records: {
    readonly spans: SpanDraft[]
    readonly events: FragmentEvent[]
    readonly artifacts: FragmentArtifact[]
  }
}

/** More spans no run has. */
const MAX_SPANS = 50_000

/** Imports the runs of a file, all of them or none. Throws TRACE_EXISTS, RUN_FULL, what is wrong with a record, and the signal's reason. */
export const importRuns = async (
  gateway: Gateway,
  keeper: Keeper,
  file: ImportFile,
  options: ImportOptions,
  signal: AbortSignal,
): Promise<ImportAnswer> => {
  const { plans, skipped } = await planned(gateway, keeper, file.runs, options)
  for await (const slice of file.slices()) take(gateway, plans, slice)
  await file.close()
  signal.throwIfAborted()
  const taken = [...plans.values()]
  const fragments = taken.map((plan) => fragmentOf(plan, options))
  const kept = await (options.dry_run === true ? gateway.cleaned(fragments) : gateway.keep(fragments)).catch(
    async (error: unknown) => {
      throw await named(gateway, error, fragments)
    },
  )
  return {
    imported: taken.map((plan) => told(plan, options)),
    skipped,
    warnings: [
      ...file.warnings,
      ...kept.flatMap((one) => one.warnings.map(({ code, message }) => ({ code, message }))),
    ],
    ...(options.dry_run === true ? { dry_run: true as const } : {}),
  }
}

/** An error about a record, told with the record as the file counts them: its place in a fragment means nothing to who sent it. */
const named = async (gateway: Gateway, error: unknown, fragments: readonly Fragment[]): Promise<unknown> => {
  if (!(error instanceof GuardError)) return error
  const [, kind, place] = /^\/(span|event|artifact)s\/(\d+)/.exec(error.place.path ?? '') ?? []
  if (kind === undefined) return error
  const clean = (fragment: Fragment) =>
    gateway.cleaned([fragment]).then(
      () => true,
      () => false,
    )
  for (const fragment of fragments) {
    if (await clean(fragment)) continue
    const { source_trace_id, trace_id } = fragment.run
    const record = `${kind} ${Number(place) + 1} of run "${source_trace_id ?? trace_id}"`
    return new GuardError(error.code, `In ${record}: ${error.message}`, { cause: error })
  }
  return error
}

const told = ({ found, trace_id, remapped, identical_to }: Planned, { dry_run }: ImportOptions) => {
  const { run, spans, events, artifacts } = found
  const id = dry_run === true ? run.trace_id : trace_id
  return {
    trace_id: id,
    source_trace_id: run.trace_id,
    remapped,
    identical_to,
    spans,
    events,
    artifacts,
    url: urlOf(id),
  }
}

/** Which runs are imported, by their place in the file, and which are not. */
const planned = async (
  gateway: Gateway,
  keeper: Keeper,
  runs: readonly FoundRun[],
  { on_conflict }: ImportOptions,
): Promise<{ readonly plans: ReadonlyMap<number, Planned>; readonly skipped: ImportAnswer['skipped'] }> => {
  const plans = new Map<number, Planned>()
  const skipped: { source_trace_id: string; existing_trace_id: string }[] = []
  const taken = new Set<string>()
  for (const [place, found] of runs.entries()) {
    const { trace_id, project_id, session_id, agent_id } = found.run
    checkIds(gateway, [trace_id, project_id, session_id, agent_id])
    if (found.spans > MAX_SPANS)
      throw new GuardError('RUN_FULL', `Run "${trace_id}" has ${found.spans} spans; a run has at most ${MAX_SPANS}.`)
    const conflict = taken.has(trace_id) || (await keeper.runs.get(trace_id)) !== undefined
    taken.add(trace_id)
    if (conflict && on_conflict === 'fail')
      throw new GuardError('TRACE_EXISTS', `Run "${trace_id}" exists already. Nothing was imported.`)
    if (conflict && on_conflict === 'skip') skipped.push({ source_trace_id: trace_id, existing_trace_id: trace_id })
    else plans.set(place, await planOf(gateway, found, conflict))
  }
  return { plans, skipped }
}

const planOf = async (gateway: Gateway, found: FoundRun, conflict: boolean): Promise<Planned> => {
  const where = { content_digest: found.digest }
  const { rows } = await gateway.storage.find('runs', { where, limit: 1 })
  return {
    found,
    trace_id: conflict ? newTraceId(gateway.clock.now()) : found.run.trace_id,
    remapped: conflict,
    identical_to: rows[0]?.trace_id ?? null,
    records: { spans: [], events: [], artifacts: [] },
  }
}

/** Takes records into their run. */
const take = (gateway: Gateway, plans: ReadonlyMap<number, Planned>, slice: Slice): void => {
  for (const records of [slice.spans, slice.events, slice.artifacts])
    checkIds(
      gateway,
      records.map(({ id }) => id),
    )
  const plan = plans.get(slice.run)
  if (plan === undefined) return
  const { spans, events, artifacts } = plan.remapped ? newIds(slice, plan.trace_id) : keptIds(slice)
  plan.records.spans.push(...spans)
  plan.records.events.push(...events)
  plan.records.artifacts.push(...artifacts)
}

const fragmentOf = ({ found, trace_id, remapped, records }: Planned, { project_id }: ImportOptions): Fragment => ({
  owner: 'client',
  origin: 'import',
  run: {
    ...found.run,
    trace_id,
    content_digest: found.digest,
    ...(project_id === undefined ? {} : { project_id }),
    ...(remapped ? { source_trace_id: found.run.trace_id } : {}),
  },
  ...records,
})

/** An id is shown and indexed as it is, so it may hold no secret. */
const checkIds = ({ redact }: Gateway, ids: readonly (string | null | undefined)[]): void => {
  if (ids.some((id) => typeof id === 'string' && redact.looksSecret(id)))
    throw new GuardError('INVALID_ID', 'An id of the file looks like a secret. Use ids that may be shown.')
}
