import type { Attributes, Fragment, Gateway, SpanDraft, Usage } from 'guard-gateway/core'
import { noUsage } from 'guard-gateway/core'
import type { SpanRow } from '../tables.ts'
import { countOf } from '../write/kind.ts'

/** Model names of a span for the price lookup; the responding model first. */
export const modelsOf = (attributes: Attributes): readonly string[] =>
  ['gen_ai.response.model', 'gen_ai.request.model', 'model']
    .map((name) => attributes[name])
    .filter((name) => typeof name === 'string')

/** Token usage of a span; undefined if unknown. */
export const usageOf = (attributes: Attributes): Usage | undefined => {
  const count = (name: string): number => Number(countOf(attributes[`gen_ai.usage.${name}`]) ?? 0n)
  const all = countOf(attributes['gen_ai.usage.input_tokens'])
  const output = countOf(attributes['gen_ai.usage.output_tokens'])
  if (all === null && output === null) return undefined
  const cache_read_tokens = count('cache_read.input_tokens')
  const cache_write_tokens = count('cache_creation.input_tokens')
  return {
    ...noUsage,
    input_tokens: Math.max(0, Number(all ?? 0n) - cache_read_tokens - cache_write_tokens),
    cache_read_tokens,
    cache_write_tokens,
    output_tokens: Number(output ?? 0n),
    reasoning_tokens: count('reasoning.output_tokens'),
  }
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
