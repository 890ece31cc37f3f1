import type { Attributes, SpanKind } from 'guard-gateway/core'
import type { JsonObject } from 'guard-gateway/lib/json'
import { elementsOf } from 'guard-gateway/lib/trace-file'
import { guardNames, semconv } from '../names.ts'
import { instantOf, linksOf, messageOf, type OtlpSpan, statusRecord, traceStateOf } from '../span-record.ts'
import { fromKeyValues } from '../values.ts'
import { type SettledCost, settledCost } from './settled-cost.ts'
import { type SettledUsage, settledUsage } from './settled-usage.ts'
import type { TextField, Told } from './told.ts'

/** Members of the record of a span that another program wrote. `about`: attributes of its scope. Throws ImportFault. */
export const foreignSpan = (span: OtlpSpan, told: Told, parent_id: string | null, about: Attributes): JsonObject => {
  const { record, place, attributes } = span
  const end = instantOf(record, 'endTimeUnixNano', place) ?? 0n
  const usage = settledUsage(told)
  const kind = kindIn(told, usage)
  const outcome = outcomeOf(span, told)
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
      ...canonical(span, told, kind, usage),
      ...about,
      ...linksOf(record, place),
      ...traceStateOf(record),
    },
  }
}

/** The kind that the span says; undefined: it follows from usage, tool, model and name. */
const kindIn = ({ kind }: Told, usage: SettledUsage | undefined): SpanKind | undefined =>
  kind === null ? (usage === undefined ? 'other' : undefined) : kind

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
const canonical = (
  { attributes, record }: OtlpSpan,
  told: Told,
  kind: SpanKind | undefined,
  usage: SettledUsage | undefined,
): Attributes => {
  const added: Record<string, unknown> = {}
  const add = (key: string, value: unknown): void => {
    if (value === undefined || attributes[key] === value) return
    added[key] = value
    // a count that was sent stays visible
    if (typeof attributes[key] === 'number') added[guardNames.sent + key] = attributes[key]
  }
  for (const [field, key] of TEXT_NAMES) if (!isText(attributes[key])) add(key, told.texts.get(field)?.value)
  if (!isText(attributes[semconv.tool])) add(semconv.tool, toolOf(told, kind, record.name))
  if (usage !== undefined) for (const [field, key] of USAGE_NAMES) add(key, usage[field])
  const hasCall = usage !== undefined || told.texts.has('model') || told.texts.has('response_model')
  const cost = hasCall ? settledCost(told) : undefined
  if (cost?.currency === DOLLARS) added[guardNames.toldCost] = cost.micro
  const warning = hasCall ? warningOf(told, usage, cost) : undefined
  if (warning !== undefined) added[guardNames.usageWarning] = warning
  return added
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

const DOLLARS = 'USD'

const warningOf = (
  { refused }: Told,
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
const toolOf = ({ texts }: Told, kind: SpanKind | undefined, name: unknown): string | undefined => {
  const tool = texts.get('tool')?.value
  if (tool !== undefined || kind !== 'tool') return tool
  const own = texts.get('span_title')?.value ?? (typeof name === 'string' ? name : '')
  const bare = own.replace(/^(?:execute_tool|tool_call|tool|running tool)[ :]+/i, '').replace(/\.tool$/, '')
  return TOOL_NAME.test(bare) ? bare : undefined
}

const OK = 1
const FAILED = 2

/** How the span ended: by its status, else by what its sender calls a failure, an error type or an exception. */
const outcomeOf = (
  { record, place, attributes }: OtlpSpan,
  told: Told,
): { readonly status: 'ok' | 'error'; readonly message: string | undefined } => {
  const { code } = statusRecord(record, place)
  const message = messageOf(record, place)
  const type = told.texts.get('error_type')?.value
  const isFailure = code === FAILED || told.failed
  const isOk = code === OK && !told.sender?.exceptions_fail
  if (!isFailure && isOk) return { status: 'ok', message }
  const exception = exceptionIn(record, place)
  const failed = isFailure || exception !== undefined || type !== undefined || attributes.error === true
  if (!failed) return { status: 'ok', message }
  const said = message ?? told.texts.get('status_message')?.value ?? exception?.message
  return { status: 'error', message: said ?? type }
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
    const said = ['exception.message', 'exception.type'].map((name) => attributes[name]).find(isText)
    found = { message: typeof said === 'string' ? said : undefined }
  }
  return found
}
