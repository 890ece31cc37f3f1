import type { Fragment, FragmentRun, Redactor } from 'guard-gateway/core'
import { storedId } from 'guard-gateway/lib/ids'
import type { OtlpRun } from 'guard-gateway/lib/otlp'
import { newSpanId } from 'guard-gateway/lib/trace'

/** A fragment built from OTLP data, and notes about omitted data. */
export interface BuiltFragment {
  readonly fragment: Fragment
  readonly lost_spans: number
  readonly notes: readonly string[]
}

/** Builds a fragment from records whose ids hold no key; those that look like secrets are hashed. Of records with one id, the last wins. */
export const fragmentOf = (found: OtlpRun, sent: FragmentRun, redact: Pick<Redactor, 'judgeId'>): BuiltFragment => {
  const notes: string[] = []
  /** The record with these ids as they are stored; none if one of them is a key. */
  const stored = <R extends object>(record: R, names: readonly (keyof R & string)[]): readonly R[] => {
    let copy = record
    for (const name of names) {
      const id = record[name]
      if (typeof id !== 'string') continue
      const kept = storedId(id, redact)
      if (kept === undefined) {
        notes.push(`"${name}" is a secret; use an id that may be shown`)
        return []
      }
      if (kept !== id) copy = { ...copy, [name]: kept }
    }
    return [copy]
  }
  const base = { owner: 'client', origin: 'otlp' } as const
  const [run] = stored(sent, ['trace_id', 'project_id', 'default_project_id', 'session_id', 'agent_id'])
  const names = originalNames(found, sent)
  if (run === undefined || stored(names, ['session_id', 'agent_id', 'project_id']).length === 0)
    return {
      fragment: { ...base, run: sent, spans: [], events: [], artifacts: [] },
      lost_spans: found.spans.length,
      notes,
    }
  const spans = found.spans.flatMap(({ record }) => stored(record, ['id', 'parent_id']))
  const spanIds = new Set(spans.map(({ id }) => id))
  const hasSpan = ({ span_id }: { readonly span_id?: string | null }): boolean =>
    typeof span_id !== 'string' || spanIds.has(span_id)
  const events = found.events
    .map(({ record }) => ({ ...record, id: record.id ?? `evt_${newSpanId()}` }))
    .flatMap((event) => stored(event, ['id', 'span_id', 'request_id']))
    .filter(hasSpan)
  const artifacts = found.artifacts
    .map(({ record }) => ({ ...record, id: record.id ?? `art_${newSpanId()}` }))
    .flatMap((artifact) => stored(artifact, ['id', 'span_id']))
    .filter(hasSpan)
  const fragment = { ...base, run, spans: lastOf(spans), events: lastOf(events), artifacts: lastOf(artifacts) }
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
