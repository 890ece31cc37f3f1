import type { Attributes, Redactor } from 'guard-gateway/core'
import { writeJson } from '#lib/json'
import { isContentEvent, type MetadataOnly, type OtlpRun } from '#lib/otlp'
import { cutBeforeRedaction, cutText } from '#lib/text'
import { mapPaced, type Pace } from '#lib/time-slice'

const PREVIEW_CHARS = 500

/**
 * Redacts all values except metadata, then truncates them to 500 characters. Truncation first could leave half a secret. `names` has the metadata keys.
 */
export const withPreviews = async (
  run: OtlpRun,
  redact: Pick<Redactor, 'text' | 'value'>,
  names: MetadataOnly,
  pace: Pace,
): Promise<OtlpRun> => {
  const preview = (value: unknown): unknown => {
    if (typeof value === 'string') return cutText(redact.text(cutBeforeRedaction(value)), PREVIEW_CHARS)
    if (typeof value !== 'object' || value === null) return value
    return cutText(redact.text(cutBeforeRedaction(writeJson(redact.value(value)))), PREVIEW_CHARS)
  }
  const previewed = (attributes: Attributes, all: boolean): Attributes => {
    const entries = Object.entries(attributes)
    const content = entries.filter(([name, value]) => all || names.retained(name, value) !== value)
    if (content.length === 0) return attributes
    const copy: Record<string, unknown> = Object.assign(Object.create(null), attributes)
    for (const [name, value] of content) copy[name] = preview(value)
    return copy
  }
  const inRecord = <R extends { readonly attributes?: Attributes }>(record: R, all = false): R => {
    if (record.attributes === undefined) return record
    const attributes = previewed(record.attributes, all)
    return attributes === record.attributes ? record : { ...record, attributes }
  }
  return {
    ...run,
    run: inRecord(run.run),
    spans: await mapPaced(run.spans, pace, ({ record, place }) => ({ record: inRecord(record), place })),
    events: await mapPaced(run.events, pace, ({ record, place }) => ({
      record: inRecord(record, isContentEvent(record.name)),
      place,
    })),
  }
}
