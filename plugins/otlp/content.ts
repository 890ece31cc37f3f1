import {
  type Attributes,
  cutBeforeRedaction,
  cutText,
  isContentEvent,
  isContentName,
  type OtlpRun,
  type Redactor,
  writeJson,
} from 'guard-gateway/core'

const PREVIEW_CHARS = 500
/** Put before the name of an attribute that comes from the resource. */
const RESOURCE = 'resource.'

const bareName = (name: string): string => (name.startsWith(RESOURCE) ? name.slice(RESOURCE.length) : name)

/** The run with what people and models said redacted, then cut to 500 characters: the other way round half a secret would stay. */
export const withPreviews = (run: OtlpRun, redact: Redactor): OtlpRun => {
  const preview = (value: unknown): unknown => {
    if (typeof value === 'string') return cutText(redact.text(cutBeforeRedaction(value)), PREVIEW_CHARS)
    if (typeof value !== 'object' || value === null) return value
    return cutText(redact.text(cutBeforeRedaction(writeJson(redact.value(value)))), PREVIEW_CHARS)
  }
  const previewed = (attributes: Attributes | undefined, all = false): Attributes | undefined => {
    const names = Object.keys(attributes ?? {}).filter((name) => all || isContentName(bareName(name)))
    if (attributes === undefined || names.length === 0) return attributes
    const copy: Record<string, unknown> = Object.assign(Object.create(null), attributes)
    for (const name of names) copy[name] = preview(copy[name])
    return copy
  }
  const inRecord = <R extends { readonly attributes?: Attributes }>(record: R, all = false): R => {
    const attributes = previewed(record.attributes, all)
    return attributes === record.attributes ? record : { ...record, attributes }
  }
  return {
    ...run,
    run: inRecord(run.run),
    spans: run.spans.map(({ record, place }) => ({ record: inRecord(record), place })),
    events: run.events.map(({ record, place }) => ({ record: inRecord(record, isContentEvent(record.name)), place })),
  }
}
