import type { ArtifactDraft, Attributes, EventDraft } from 'guard-gateway/core'
import { sha256 } from 'guard-gateway/lib/ids'
import type { JsonObject } from 'guard-gateway/lib/json'
import type { ImportLocation } from 'guard-gateway/lib/trace-file'
import { artifactDraft, elementsOf, eventDraft, type LocatedRecord } from 'guard-gateway/lib/trace-file'
import { ARTIFACT_ATTRIBUTE, guardNames, reservedOnEvents } from './names.ts'
import { unescaped } from './read-span.ts'
import { instantOf, type OtlpSpan } from './span-record.ts'
import { fromKeyValues } from './values.ts'

/** What the events of one OTLP span are in our records. */
export interface SpanEvents {
  readonly events: readonly LocatedRecord<EventDraft>[]
  readonly artifacts: readonly LocatedRecord<ArtifactDraft>[]
}

/** Reads the events of a span whose id here is `span_id`. An event that has no id gets the same one every time. Throws ImportFault. */
export const eventsFromOtlp = (span: OtlpSpan, span_id: string): SpanEvents => {
  const events: LocatedRecord<EventDraft>[] = []
  const artifacts: LocatedRecord<ArtifactDraft>[] = []
  for (const { record, place } of elementsOf(span.record, 'events', span.place)) {
    const attributes = fromKeyValues(record, 'attributes', place)
    const owner = attributes[guardNames.eventLevel] === 'run' ? null : span_id
    if (record.name === guardNames.artifact && typeof attributes[guardNames.artifactId] === 'string') {
      artifacts.push({ record: artifactFrom(attributes, owner, place), place })
    } else if (span.ours && typeof attributes[guardNames.eventId] === 'string') {
      events.push({ record: ownEvent(record, attributes, owner, place), place })
    } else {
      const id = `evt_${sha256(`${span.traceId}:${span.spanId}:${events.length}`).slice(0, 16)}`
      const time_ns = instantOf(record, 'timeUnixNano', place) || undefined
      events.push({ record: eventDraft({ id, name: record.name, time_ns, attributes }, place, span_id), place })
    }
  }
  return { events, artifacts }
}

const ownEvent = (
  record: JsonObject,
  attributes: Attributes,
  span_id: string | null,
  place: ImportLocation,
): EventDraft =>
  eventDraft(
    {
      id: attributes[guardNames.eventId],
      name: record.name,
      time_ns: instantOf(record, 'timeUnixNano', place),
      severity: attributes[guardNames.severity] ?? 'info',
      request_id: attributes[guardNames.requestId] ?? null,
      attributes: unescaped(attributes, (name) => reservedOnEvents.has(name)),
    },
    place,
    span_id,
  )

const artifactFrom = (attributes: Attributes, span_id: string | null, place: ImportLocation): ArtifactDraft => {
  const own: Record<string, unknown> = Object.create(null)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith(ARTIFACT_ATTRIBUTE)) own[key.slice(ARTIFACT_ATTRIBUTE.length)] = value
  }
  return artifactDraft(
    {
      id: attributes[guardNames.artifactId],
      span_id: span_id ?? attributes[guardNames.artifactSpan] ?? null,
      path: attributes.path,
      mime_type: attributes.mime_type ?? null,
      size: attributes.size ?? null,
      sha256: attributes.sha256 ?? null,
      attributes: own,
    },
    place,
  )
}
