import {
  canonicalJson,
  type FragmentArtifact,
  type FragmentEvent,
  type ImportedRun,
  newSpanId,
  type SpanDraft,
  sha256,
} from 'guard-gateway/core'

/** The records of an imported run with the ids they get here. */
export interface Identified {
  readonly spans: readonly SpanDraft[]
  readonly events: readonly FragmentEvent[]
  readonly artifacts: readonly FragmentArtifact[]
}

/** Records of one run, all of them or some. */
type Records = Pick<ImportedRun, 'spans' | 'events' | 'artifacts'>

/** Ids as the file has them; records without one get one. */
export const keptIds = ({ spans, events, artifacts }: Records): Identified => ({
  spans,
  events: events.map((event) => ({ ...event, id: event.id ?? `evt_${newSpanId()}` })),
  artifacts: artifacts.map((artifact) => ({ ...artifact, id: artifact.id ?? `art_${newSpanId()}` })),
})

/** New ids that follow from the new trace id and the old ones; parents and spans are named by them too. */
export const newIds = (records: Records, trace_id: string): Identified => {
  const to = (id: string): string => sha256(`${trace_id}:${id}`).slice(0, 16)
  const orNull = (id: string | null | undefined): string | null => (id === undefined || id === null ? null : to(id))
  const { spans, events, artifacts } = keptIds(records)
  return {
    spans: spans.map((span) => ({ ...span, id: to(span.id), parent_id: orNull(span.parent_id) })),
    events: events.map((event) => ({ ...event, id: to(event.id), span_id: orNull(event.span_id) })),
    artifacts: artifacts.map((artifact) => ({ ...artifact, id: to(artifact.id), span_id: orNull(artifact.span_id) })),
  }
}

/** SHA-256 of what a run says, whatever its ids and project are called, hex. */
export const digestOf = ({ run, spans, events, artifacts }: ImportedRun): string => {
  const places = new Map(spans.map(({ id }, index) => [id, index]))
  const placeOf = (id: string | null | undefined): number | null =>
    id === undefined || id === null ? null : (places.get(id) ?? -1)
  const { trace_id: _trace, project_id: _project, ...about } = run
  return sha256(
    canonicalJson([
      about,
      spans.map(({ id: _id, parent_id, ...span }) => ({ ...span, parent: placeOf(parent_id) })),
      events.map(({ id: _id, span_id, ...event }) => ({ ...event, span: placeOf(span_id) })),
      artifacts.map(({ id: _id, span_id, ...artifact }) => ({ ...artifact, span: placeOf(span_id) })),
    ]),
  )
}
