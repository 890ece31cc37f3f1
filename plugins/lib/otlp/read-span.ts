import type { Attributes, SpanDraft, SpanKind } from 'guard-gateway/core'
import type { JsonObject } from '#lib/json'
import { elementsOf, spanDraft } from '#lib/trace-file'
import { ESCAPED, guardNames, RUN_ATTRIBUTE, reservedOnRoots, reservedOnSpans, semconv } from './names.ts'
import type { SenderReport, TextField } from './reading/sender-attributes.ts'
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

/** Facts under the names that everybody reads. */
const TEXT_NAMES: readonly (readonly [TextField, string])[] = [
  ['model', semconv.model],
  ['response_model', 'gen_ai.response.model'],
  ['tool_call', 'gen_ai.tool.call.id'],
]

const USAGE_NAMES: readonly (readonly [keyof SettledUsage, string])[] = [
  ['input', 'gen_ai.usage.input_tokens'],
  ['output', 'gen_ai.usage.output_tokens'],
  ['cache_read', 'gen_ai.usage.cache_read.input_tokens'],
  ['cache_write', 'gen_ai.usage.cache_creation.input_tokens'],
  ['cache_write_1h', 'guard.usage.cache_creation_1h.input_tokens'],
  ['reasoning', 'gen_ai.usage.reasoning.output_tokens'],
]

/** What the span says under other names, or in another way, under the names of the GenAI conventions; nothing that stands there already. */
const canonicalAttributes = (
  span: OtlpSpan,
  report: SenderReport,
  kind: SpanKind | undefined,
  usage: SettledUsage | undefined,
): Attributes => {
  const { attributes, record } = span
  const isCall = usage !== undefined || report.sender?.model_elsewhere !== true
  const texts = isCall ? TEXT_NAMES : TEXT_NAMES.filter(([field]) => field === 'tool_call')
  const added: Record<string, unknown> = {}
  for (const [field, key] of texts) if (!isText(attributes[key])) added[key] = report.texts.get(field)?.value
  if (kind === 'model' && report.sender?.title_is_model && !isText(attributes[semconv.model]))
    added[semconv.model] ??= report.texts.get('span_title')?.value
  if (!isText(attributes[semconv.tool])) added[semconv.tool] = toolOf(report, kind, record.name)
  if (usage !== undefined) addUsage(added, attributes, usage)
  if (isCall && (usage !== undefined || report.texts.has('model') || report.texts.has('response_model')))
    addCost(added, report, usage)
  return Object.fromEntries(Object.entries(added).filter(([, value]) => value !== undefined))
}

const addUsage = (added: Record<string, unknown>, attributes: Attributes, usage: SettledUsage): void => {
  for (const [field, key] of USAGE_NAMES) {
    const sent = attributes[key]
    if (usage[field] === undefined || usage[field] === sent) continue
    added[key] = usage[field]
    // a count that was sent stays visible
    if (typeof sent === 'number') added[guardNames.sent + key] = sent
  }
}

const addCost = (added: Record<string, unknown>, report: SenderReport, usage: SettledUsage | undefined): void => {
  const cost = settledCost(report)
  if (cost?.currency === DOLLARS) added[guardNames.toldCost] = cost.micro
  added[guardNames.usageWarning] = warningOf(report, usage, cost)
}

const DOLLARS = 'USD'

const warningOf = (
  { refused }: SenderReport,
  usage: SettledUsage | undefined,
  cost: SettledCost | undefined,
): string | undefined => {
  if (refused.length > 0) return `not a count or an amount: ${refused.join(', ')}`
  if (cost !== undefined && cost.currency !== DOLLARS) return `a cost in ${cost.currency} is not added up`
  return usage?.contradiction ? 'the total is not the sum of input and output' : undefined
}

/** A name that is no sentence. */
const TOOL_NAME = /^[\w.:/@-]{1,128}$/

/** The tool that a span names; of a tool span that names none, its title or name without what conventions put around it. */
const toolOf = ({ texts }: SenderReport, kind: SpanKind | undefined, name: unknown): string | undefined => {
  const tool = texts.get('tool')?.value
  if (tool !== undefined || kind !== 'tool') return tool
  const own = texts.get('span_title')?.value ?? (typeof name === 'string' ? name : '')
  const bare = own.replace(/^(?:execute_tool|tool_call|tool|running tool)[ :]+/i, '').replace(/\.tool$/, '')
  return TOOL_NAME.test(bare) ? bare : undefined
}

/** A cost that a sender tells, in millionths of its currency. */
interface SettledCost {
  readonly micro: number
  readonly currency: string
}

/** The sum that is told, else that of its parts; US dollars where no currency is named. */
const settledCost = ({ cost, currency = 'USD' }: SenderReport): SettledCost | undefined => {
  const whole = cost.get('cost')?.value
  if (whole !== undefined) return { micro: whole, currency }
  const input = cost.get('cost_input')
  const output = cost.get('cost_output')
  const part = input ?? output
  if (part === undefined) return undefined
  const isApart = part.sender?.input_holds_cached === false
  const others = isApart ? [input, output, cost.get('cost_other')] : [input, output]
  return { micro: others.reduce((sum, amount) => sum + (amount?.value ?? 0), 0), currency }
}
