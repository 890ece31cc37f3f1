import {
  type Fragment,
  type Gateway,
  GuardError,
  type ImportedRun,
  type ImportWarning,
  newTraceId,
} from 'guard-gateway/core'
import { digestOf, keptIds, newIds } from './import-ids.ts'
import { urlOf } from './ingest.ts'
import type { Keeper } from './keeper.ts'

/** What happens to a run whose trace id is taken: it gets another one, is left out, or nothing is imported. */
export type OnConflict = 'remap' | 'skip' | 'fail'

export interface ImportAnswer {
  readonly imported: readonly {
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
}

export interface ImportOptions {
  readonly on_conflict: OnConflict
  /** Instead of the project that the file names. */
  readonly project_id?: string
}

/** Imports the runs of a file, all of them or none. Throws INVALID_IMPORT, TRACE_EXISTS and what the file's format finds wrong. */
export const importRuns = async (
  gateway: Gateway,
  keeper: Keeper,
  text: string,
  options: ImportOptions,
): Promise<ImportAnswer> => {
  const { runs, warnings } = formatOf(gateway, text).read(text)
  const planned: { fragment: Fragment; source: string; identical_to: string | null }[] = []
  const skipped: { source_trace_id: string; existing_trace_id: string }[] = []
  const taken = new Set<string>()
  for (const run of runs) {
    const { trace_id } = run.run
    checkIds(gateway, run)
    const conflict = taken.has(trace_id) || (await keeper.runs.get(trace_id)) !== undefined
    taken.add(trace_id)
    if (conflict && options.on_conflict === 'fail')
      throw new GuardError('TRACE_EXISTS', `Run "${trace_id}" exists already. Nothing was imported.`)
    if (conflict && options.on_conflict === 'skip')
      skipped.push({ source_trace_id: trace_id, existing_trace_id: trace_id })
    else planned.push(await planOf(gateway, run, conflict, options))
  }
  const kept = await gateway.keep(planned.map(({ fragment }) => fragment))
  return {
    imported: planned.map(({ fragment, source, identical_to }) => ({
      trace_id: fragment.run.trace_id,
      source_trace_id: source,
      remapped: fragment.run.trace_id !== source,
      identical_to,
      spans: fragment.spans.length,
      events: fragment.events.length,
      artifacts: fragment.artifacts.length,
      url: urlOf(fragment.run.trace_id),
    })),
    skipped,
    warnings: [...warnings, ...kept.flatMap((one) => one.warnings.map(({ code, message }) => ({ code, message })))],
  }
}

const formatOf = ({ exportFormats }: Gateway, text: string) => {
  for (const { id, accepts, read } of exportFormats) if (read !== undefined && accepts?.(text)) return { id, read }
  const known = [...exportFormats].filter(({ read }) => read !== undefined).map(({ id }) => id)
  throw new GuardError('INVALID_IMPORT', `The file is of no known format; there is ${known.join(', ')}.`, {
    known,
    line: 1,
  })
}

const planOf = async (gateway: Gateway, run: ImportedRun, conflict: boolean, { project_id }: ImportOptions) => {
  const { trace_id: source } = run.run
  const trace_id = conflict ? newTraceId(gateway.clock.now()) : source
  const content_digest = digestOf(run)
  const { rows } = await gateway.storage.find('runs', { where: { content_digest }, limit: 1 })
  const fragment: Fragment = {
    owner: 'client',
    origin: 'import',
    run: {
      ...run.run,
      trace_id,
      content_digest,
      ...(project_id === undefined ? {} : { project_id }),
      ...(conflict ? { source_trace_id: source } : {}),
    },
    ...(conflict ? newIds(run, trace_id) : keptIds(run)),
  }
  return { fragment, source, identical_to: rows[0]?.trace_id ?? null }
}

/** An id is shown and indexed as it is, so it may hold no secret. */
const checkIds = ({ redact }: Gateway, { run, spans, events, artifacts }: ImportedRun): void => {
  const ids = [
    run.trace_id,
    run.project_id,
    run.session_id,
    run.agent_id,
    ...spans.map(({ id }) => id),
    ...events.map(({ id }) => id),
    ...artifacts.map(({ id }) => id),
  ]
  if (ids.some((id) => typeof id === 'string' && redact.looksSecret(id)))
    throw new GuardError('INVALID_ID', 'An id of the file looks like a secret. Use ids that may be shown.')
}
