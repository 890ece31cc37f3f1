import type { Attributes, Fragment, Gateway, SpanDraft, Usage } from 'guard-gateway/core'
import { noUsage } from 'guard-gateway/core'
import type { SpanRow } from '../tables.ts'
import { countOf } from '../write/kind.ts'
import type { Terms } from './cost.ts'

/** Model names of a span for the price lookup; the responding model first. */
export const modelsOf = (attributes: Attributes): readonly string[] =>
  ['gen_ai.response.model', 'gen_ai.request.model', 'model']
    .map((name) => attributes[name])
    .filter((name) => typeof name === 'string')

/** Token usage of a span; undefined if unknown. Input that is less than its cached part does not count that. */
export const usageOf = (attributes: Attributes): Usage | undefined => {
  const count = (name: string): number => Number(countOf(attributes[name]) ?? 0n)
  const all = countOf(attributes['gen_ai.usage.input_tokens'])
  const output = countOf(attributes['gen_ai.usage.output_tokens'])
  if (all === null && output === null) return undefined
  const cache_read_tokens = count('gen_ai.usage.cache_read.input_tokens')
  const cache_write_tokens = count('gen_ai.usage.cache_creation.input_tokens')
  const cached = cache_read_tokens + cache_write_tokens
  const input = Number(all ?? 0n)
  return {
    ...noUsage,
    input_tokens: input < cached ? input : input - cached,
    cache_read_tokens,
    cache_write_tokens,
    cache_write_1h_tokens: Math.min(count('guard.usage.cache_creation_1h.input_tokens'), cache_write_tokens),
    output_tokens: Number(output ?? 0n),
    reasoning_tokens: count('gen_ai.usage.reasoning.output_tokens'),
  }
}

/** Names of the service tier that answered, then of the one that was asked for. */
const SERVICE_TIERS = ['response', 'request'].flatMap((side) => [
  `openai.${side}.service_tier`,
  `gen_ai.${side}.service_tier`,
  `gen_ai.openai.${side}.service_tier`,
])

/** Terms under which the request of a span was answered. */
export const termsOf = (attributes: Attributes): Terms => ({
  service_tier: textOf(attributes, SERVICE_TIERS),
  region: textOf(attributes, ['guard.inference_geo']),
})

const textOf = (attributes: Attributes, names: readonly string[]): string | null => {
  const value = names.map((name) => attributes[name]).find((each) => typeof each === 'string' && each !== '')
  return typeof value === 'string' ? value : null
}

/** Cost that the sender of a span told, in millionths of a dollar; null if it told none. */
export const reportedCostOf = (attributes: Attributes): number | null => {
  const reported = countOf(attributes['guard.cost_told_micro'])
  return reported === null ? null : Number(reported)
}

/** Attributes without a price that was added here; a price from the writer stays. */
export const unpriced = (attributes: Attributes): Attributes => {
  if (attributes['guard.cost_source'] === undefined) return attributes
  const {
    'guard.cost_micro': _cost,
    'guard.cost_source': _source,
    'guard.price_version': _version,
    ...rest
  } = attributes
  return rest
}

const isHalf = ({ attributes = {} }: SpanDraft): boolean =>
  modelsOf(attributes).length > 0 !== (usageOf(attributes) !== undefined)

/** Stored spans by id, for updates that contain only the model or the usage. A known model needs no new price. */
export const storedSpansOf = async (
  { owner, whole, stage, run, spans }: Fragment,
  { storage }: Gateway,
): Promise<ReadonlyMap<string, SpanRow>> => {
  const halves = owner === 'client' && whole !== true && stage === undefined ? spans.filter(isHalf) : []
  const found = await Promise.all(
    halves.map(async (span) => ({ span, row: await storage.get('spans', [run.trace_id, span.id]) })),
  )
  return new Map(found.flatMap(({ span, row }) => (row !== undefined && saysMore(span, row) ? [[row.id, row]] : [])))
}

const saysMore = ({ attributes = {} }: SpanDraft, old: SpanRow): boolean =>
  usageOf(attributes) !== undefined ||
  String(modelsOf({ ...old.attributes, ...attributes })) !== String(modelsOf(old.attributes)) ||
  old.attributes['guard.cost_source'] !== 'priced'
