import type { Reader, Tables } from 'guard-gateway/core'
import { otlpArtifact, otlpEvent } from '#lib/otlp'
import { pages } from '#lib/paging'
import type { Artifact, TraceEvent, TraceSpan } from '#lib/trace'

type RunRow = Tables['runs']

/** Limit of events, and of artifacts, per run in a batch. */
const MAX_RECORDS = 10_000

/** Events and artifacts by span, in OTLP/JSON. Those without a span belong to the root. */
export const eventsOf = async (
  storage: Reader,
  run: RunRow,
  spans: readonly TraceSpan[],
  derived: readonly TraceEvent[],
): Promise<(span: TraceSpan) => readonly object[]> => {
  const [events, artifacts] = await Promise.all([
    run.event_count === 0 ? [] : recordsOf(storage, 'events', run, spans),
    run.artifact_count === 0 ? [] : recordsOf(storage, 'artifacts', run, spans),
  ])
  const ownEvents = Map.groupBy([...derived, ...events], ({ span_id }) => span_id)
  const ownArtifacts = Map.groupBy<string | null, Artifact>(artifacts, ({ span_id }) => span_id)
  const ofLevel = (span: TraceSpan, level: 'span' | 'run'): readonly object[] => {
    const key = level === 'run' ? null : span.id
    return [
      ...(ownEvents.get(key) ?? []).map((event) => otlpEvent(event, level)),
      ...(ownArtifacts.get(key) ?? []).map((artifact) => otlpArtifact(artifact, span, level)),
    ]
  }
  return (span) => [...ofLevel(span, 'span'), ...(span.id === run.root_span_id ? ofLevel(span, 'run') : [])]
}

const recordsOf = async <N extends 'events' | 'artifacts'>(
  storage: Reader,
  table: N,
  { trace_id, root_span_id }: RunRow,
  spans: readonly TraceSpan[],
): Promise<readonly Tables[N][]> => {
  const ids = spans.map(({ id }) => id)
  const tests: readonly unknown[] = ids.includes(root_span_id) ? [{ in: ids }, null] : [{ in: ids }]
  const records: Tables[N][] = []
  for (const span_id of ids.length === 0 ? [] : tests) {
    const where = { trace_id, span_id } as object
    for await (const page of pages(storage, table, { where, order: ['recorded', 'asc'] })) {
      records.push(...page)
      if (records.length >= MAX_RECORDS) return records.slice(0, MAX_RECORDS)
    }
  }
  return records
}
