import type { FragmentArtifact, FragmentEvent, SpanDraft } from 'guard-gateway/core'
import type { ImportedRecord } from 'guard-gateway/lib/export-format'
import { sha256 } from 'guard-gateway/lib/ids'
import { newSpanId } from 'guard-gateway/lib/trace'

/** Records of an imported run with their assigned ids. */
export interface Identified {
  readonly spans: SpanDraft[]
  readonly events: FragmentEvent[]
  readonly artifacts: FragmentArtifact[]
}

/** Assigns ids: those of the file, or new ones if absent. With `trace_id`, all ids are new and derived from it. */
export const identified = (records: Iterable<ImportedRecord>, trace_id: string | undefined): Identified => {
  const to = trace_id === undefined ? kept : (id: string) => sha256(`${trace_id}:${id}`).slice(0, 16)
  const orNull = (id: string | null | undefined): string | null => (id === undefined || id === null ? null : to(id))
  const all: Identified = { spans: [], events: [], artifacts: [] }
  for (const { kind, record } of records) {
    if (kind === 'span')
      all.spans.push(
        trace_id === undefined ? record : { ...record, id: to(record.id), parent_id: orNull(record.parent_id) },
      )
    else if (kind === 'event')
      all.events.push({ ...record, id: to(record.id ?? `evt_${newSpanId()}`), span_id: orNull(record.span_id) })
    else all.artifacts.push({ ...record, id: to(record.id ?? `art_${newSpanId()}`), span_id: orNull(record.span_id) })
  }
  return all
}

const kept = (id: string): string => id
