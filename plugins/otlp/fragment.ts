import type { Fragment, FragmentRun, Redactor } from 'guard-gateway/core'
import type { OtlpRun } from 'guard-gateway/lib/otlp'
import { newSpanId } from 'guard-gateway/lib/trace'

/** OTLP data of a run as a fragment, and what was left out. */
export interface BuiltFragment {
  readonly fragment: Fragment
  readonly lost_spans: number
  readonly notes: readonly string[]
}

/** Builds a fragment of the records whose ids may be shown; of two with the same id the later counts. */
export const fragmentOf = (found: OtlpRun, run: FragmentRun, redact: Pick<Redactor, 'looksSecret'>): BuiltFragment => {
  const notes: string[] = []
  const fits = (ids: Readonly<Record<string, string | null | undefined>>): boolean => {
    const key = Object.keys(ids).find((name) => {
      const id = ids[name]
      return typeof id === 'string' && redact.looksSecret(id)
    })
    if (key !== undefined) notes.push(`"${key}" looks like a secret; use an id that may be shown`)
    return key === undefined
  }
  const base = { owner: 'client', origin: 'otlp', run } as const
  const { trace_id, session_id, agent_id } = run
  const project_id = run.project_id ?? run.default_project_id
  const ids = { trace_id, project_id, session_id, agent_id }
  if (!(fits(ids) && fits(writtenNames(found, run))))
    return { fragment: { ...base, spans: [], events: [], artifacts: [] }, lost_spans: found.spans.length, notes }
  const spans = found.spans.map(({ record }) => record).filter(({ id, parent_id }) => fits({ id, parent_id }))
  const kept = new Set(spans.map(({ id }) => id))
  const belongs = ({ span_id }: { readonly span_id?: string | null }): boolean =>
    typeof span_id !== 'string' || kept.has(span_id)
  const events = found.events
    .map(({ record }) => ({ ...record, id: record.id ?? `evt_${newSpanId()}` }))
    .filter((event) => belongs(event) && fits({ id: event.id, request_id: event.request_id }))
  const artifacts = found.artifacts
    .map(({ record }) => ({ ...record, id: record.id ?? `art_${newSpanId()}` }))
    .filter((artifact) => belongs(artifact) && fits({ id: artifact.id }))
  const fragment = { ...base, spans: lastOf(spans), events: lastOf(events), artifacts: lastOf(artifacts) }
  return { fragment, lost_spans: found.spans.length - spans.length, notes }
}

/** The names that ids of the run were made of: blanks may have hidden a secret. */
const writtenNames = (
  { run, names: { agent_name: _shown, project_id, ...names } }: OtlpRun,
  { project_id: used, default_project_id: guessed }: FragmentRun,
) => ({
  ...names,
  project_id: run.project_id === (used ?? guessed) ? project_id : undefined,
})

/** The last record of each id, where the first stood. */
const lastOf = <R extends { readonly id: string }>(records: readonly R[]): readonly R[] => {
  const byId = new Map(records.map((record) => [record.id, record]))
  return byId.size === records.length ? records : [...byId.values()]
}
