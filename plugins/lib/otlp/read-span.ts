import type { Attributes, SpanDraft } from 'guard-gateway/core'
import type { JsonObject } from 'guard-gateway/lib/json'
import { spanDraft } from 'guard-gateway/lib/trace-file'
import { ESCAPED, guardNames, RUN_ATTRIBUTE, reservedOnRoots, reservedOnSpans, semconv } from './names.ts'
import { foreignSpan } from './reading/foreign-span.ts'
import type { Told } from './reading/sender-attributes.ts'
import { instantOf, messageOf, type OtlpSpan } from './span-record.ts'

/** Our own record's attributes without what we added, under the names that they had. */
export const unescaped = (
  attributes: Attributes,
  reserved: (name: string) => boolean,
): Readonly<Record<string, unknown>> => {
  const own: Record<string, unknown> = Object.create(null)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith(ESCAPED)) own[key.slice(ESCAPED.length)] = value
    else if (!reserved(key)) own[key] = value
  }
  return own
}

const ownSpan = (span: OtlpSpan, parent_id: string | null): JsonObject => {
  const { record, attributes, place, root } = span
  const added = attributes[guardNames.operationAdded] === true
  const reserved = root ? reservedOnRoots : reservedOnSpans
  const start_ns = instantOf(record, 'startTimeUnixNano', place)
  const end_ns = instantOf(record, 'endTimeUnixNano', place)
  const status = attributes[guardNames.status]
  const unended = attributes[guardNames.unended] ?? (status === 'running' && end_ns === start_ns)
  return {
    id: attributes[guardNames.spanId],
    parent_id,
    declared_parent_id: attributes[guardNames.declaredParent],
    name: attributes[guardNames.spanName] ?? record.name,
    kind: attributes[guardNames.spanKind],
    status,
    status_message: attributes[guardNames.statusMessage] ?? messageOf(record, place) ?? null,
    start_ns,
    end_ns: unended ? null : end_ns,
    attributes: unescaped(
      attributes,
      (name) => reserved.has(name) || (root && name.startsWith(RUN_ATTRIBUTE)) || (added && name === semconv.operation),
    ),
  }
}

/** The trace record of an OTLP span. `about`: attributes of its scope; `told`: what a span of another program says. Throws ImportFault. */
export const spanFromOtlp = (
  span: OtlpSpan,
  parent_id: string | null,
  about: Attributes,
  told: Told | undefined,
): SpanDraft =>
  spanDraft(told === undefined ? ownSpan(span, parent_id) : foreignSpan(span, told, parent_id, about), span.place)
