import type { Fragment, FragmentRun, Redactor } from 'guard-gateway/core'
import type { OtlpRun } from 'guard-gateway/lib/otlp'
import { newSpanId } from 'guard-gateway/lib/trace'

/** A fragment built from OTLP data, and notes about omitted data. */
export interface BuiltFragment {
  readonly fragment: Fragment
  readonly lost_spans: number
  readonly notes: readonly string[]
}

/** Builds a fragment from records with safe ids. Of records with one id, the last wins. */
export const fragmentOf = (found: OtlpRun, run: FragmentRun, redact: Pick<Redactor, 'looksSecret'>): BuiltFragment => {
  const notes: string[] = []
  const isSafe = (ids: Readonly<Record<string, string | null | undefined>>): boolean => {
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
  if (!(isSafe(ids) && isSafe(originalNames(found, run))))
    return { fragment: { ...base, spans: [], events: [], artifacts: [] }, lost_spans: found.spans.length, notes }
  const spans = found.spans.map(({ record }) => record).filter(({ id, parent_id }) => isSafe({ id, parent_id }))
  const spanIds = new Set(spans.map(({ id }) => id))
  const hasSpan = ({ span_id }: { readonly span_id?: string | null }): boolean =>
    typeof span_id !== 'string' || spanIds.has(span_id)
  const events = found.events
    .map(({ record }) => ({ ...record, id: record.id ?? `evt_${newSpanId()}` }))
    .filter((event) => hasSpan(event) && isSafe({ id: event.id, request_id: event.request_id }))
  const artifacts = found.artifacts
    .map(({ record }) => ({ ...record, id: record.id ?? `art_${newSpanId()}` }))
    .filter((artifact) => hasSpan(artifact) && isSafe({ id: artifact.id }))
  const fragment = { ...base, spans: lastOf(spans), events: lastOf(events), artifacts: lastOf(artifacts) }
  return { fragment, lost_spans: found.spans.length - spans.length, notes }
}

/** Original names of the run's ids: redaction may have missed secrets in them. */
const originalNames = (
  { run, names: { session_id, agent_id, project_id } }: OtlpRun,
  { project_id: declared, default_project_id: inferred }: FragmentRun,
) => ({
  session_id,
  agent_id,
  project_id: run.project_id === (declared ?? inferred) ? project_id : undefined,
})

/** Last record of each id, at the position of the first. */
const lastOf = <R extends { readonly id: string }>(records: readonly R[]): readonly R[] => {
  const byId = new Map(records.map((record) => [record.id, record]))
  return byId.size === records.length ? records : [...byId.values()]
}
