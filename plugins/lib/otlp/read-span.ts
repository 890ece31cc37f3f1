import type { Attributes, SpanDraft, SpanKind } from 'guard-gateway/core'
import type { JsonObject } from '#lib/json'
import { elementsOf, spanDraft } from '#lib/trace-file'
import { ESCAPED, guardNames, RUN_ATTRIBUTE, reservedOnRoots, reservedOnSpans, semconv } from './names.ts'
import { canonicalAttributes } from './reading/canonical.ts'
import type { SenderReport } from './reading/sender-attributes.ts'
import { type SettledUsage, settledUsage } from './reading/settled-usage.ts'
import type { Sender } from './senders/sender.ts'
import { instantOf, linksOf, messageOf, type OtlpSpan, statusRecord, traceStateOf } from './span-record.ts'
import { fromKeyValues } from './values.ts'

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

/** The trace record of an OTLP span. `about`: attributes of its scope; `report`: what a span of another program says. Throws ImportFault. */
export const spanFromOtlp = (
  span: OtlpSpan,
  parent_id: string | null,
  about: Attributes,
  report: SenderReport | undefined,
): SpanDraft =>
  spanDraft(report === undefined ? ownSpan(span, parent_id) : foreignSpan(span, report, parent_id, about), span.place)

/** Members of the record of a span that another program wrote. `about`: attributes of its scope. Throws ImportFault. */
const foreignSpan = (span: OtlpSpan, report: SenderReport, parent_id: string | null, about: Attributes): JsonObject => {
  const { record, place, attributes } = span
  const end = instantOf(record, 'endTimeUnixNano', place) ?? 0n
  const usage = settledUsage(report)
  const kind = kindIn(report, usage, record.name)
  const outcome = outcomeOf(span, report)
  return {
    id: span.spanId,
    parent_id,
    name: record.name,
    kind,
    status: end === 0n ? 'running' : outcome.status,
    status_message: outcome.message,
    start_ns: instantOf(record, 'startTimeUnixNano', place) || undefined,
    end_ns: end === 0n ? null : end,
    attributes: {
      ...attributes,
      ...canonicalAttributes(span, report, kind, usage),
      ...about,
      ...linksOf(record, place),
      ...traceStateOf(record),
    },
  }
}

/** The kind that the span says; undefined: it follows from usage, tool, model and name. */
const kindIn = (
  { kind, sender }: SenderReport,
  usage: SettledUsage | undefined,
  name: unknown,
): SpanKind | undefined => {
  const reported = kind === undefined ? spanKind(sender, String(name)) : kind
  return reported === null ? (usage === undefined ? 'other' : undefined) : reported
}

const spanKind = (sender: Sender | undefined, name: string): SpanKind | null | undefined =>
  sender?.span_kinds !== undefined && Object.hasOwn(sender.span_kinds, name) ? sender.span_kinds[name] : undefined

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const OK = 1
const FAILED = 2

/** How the span ended: by its status, else by what its sender calls a failure, an error type or an exception. */
const outcomeOf = (
  { record, place, attributes }: OtlpSpan,
  report: SenderReport,
): { readonly status: 'ok' | 'error'; readonly message: string | undefined } => {
  const { code } = statusRecord(record, place)
  const message = messageOf(record, place)
  const type = report.texts.get('error_type')?.value
  const isFailure = code === FAILED || report.failed
  const isOk = code === OK && !report.sender?.exceptions_fail
  if (!isFailure && isOk) return { status: 'ok', message }
  const exception = exceptionIn(record, place)
  const failed = isFailure || exception !== undefined || type !== undefined || attributes.error === true
  if (!failed) return { status: 'ok', message }
  const reported = message ?? report.texts.get('status_message')?.value ?? exception?.message
  return { status: 'error', message: reported ?? type }
}

/** The last exception of a span that nobody handled. */
const exceptionIn = (
  record: JsonObject,
  place: OtlpSpan['place'],
): { readonly message: string | undefined } | undefined => {
  let found: { readonly message: string | undefined } | undefined
  for (const { record: event, place: at } of elementsOf(record, 'events', place)) {
    if (event.name !== 'exception') continue
    const attributes = fromKeyValues(event, 'attributes', at)
    if ([false, 'false'].includes(attributes['exception.escaped'] as boolean | string)) continue
    const reported = ['exception.message', 'exception.type'].map((name) => attributes[name]).find(isText)
    found = { message: reported }
  }
  return found
}
