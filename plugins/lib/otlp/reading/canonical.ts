import type { Attributes, SpanKind } from 'guard-gateway/core'
import { guardNames, semconv } from '../names.ts'
import type { OtlpSpan } from '../span-record.ts'
import type { SenderReport, TextField } from './sender-attributes.ts'
import type { SettledUsage } from './settled-usage.ts'

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
export const canonicalAttributes = (
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

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

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
