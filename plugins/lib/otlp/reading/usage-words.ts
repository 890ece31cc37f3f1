import type { CostField, UsageField } from '../senders/sender.ts'

const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/))

/** Words of settings, rates and sums over several calls. */
const NO_USE = words(`
  per max maximum min minimum limit limits budget window rate remaining left quota price pricing allowed available avg
  average mean saved savings cumulative accumulated session previous before after delta type threshold reserved
  prediction predicted seconds second ms bytes chars characters
`)
/** Kinds of content and of tools, whose tokens are part of the input or output. */
const PARTS = words('audio image images video text document tool tools web search server embedding file files modality')
const TOKENS = words('token tokens')
const CACHE = words('cache cached caching ephemeral')
const WRITE = words('write writes writing written creation create created creating store stored ephemeral insert')
const NEGATED = words('no non not un miss missed misses uncached')
const REASONING = words('reasoning thinking thought thoughts')
const INPUT = words('input inputs prompt prompts')
const OUTPUT = words('output outputs completion completions candidate candidates generated generation')
const COST = words('cost costs')
const TOTAL = words('total all sum')

/** What a name of unknown spelling means; undefined if it means neither usage nor cost. */
export const usageOrCost = (parts: readonly string[]): UsageField | CostField | undefined => {
  const has: Has = (some) => parts.some((word) => some.has(word))
  if (has(NO_USE)) return undefined
  if (has(COST) || (parts.includes('usage') && parts.at(-1) === 'currency')) return costField(has)
  if (!(has(TOKENS) || parts.includes('usage'))) return undefined
  const own = afterUsage(parts)
  const hasOwn: Has = (some) => own.some((word) => some.has(word))
  return hasOwn(PARTS) ? undefined : usageField(own, hasOwn)
}

/** The words within `usage`: what stands before says whose it is. */
const afterUsage = (parts: readonly string[]): readonly string[] => {
  const within = parts.slice(parts.lastIndexOf('usage') + 1)
  return within.length > 0 ? within : parts
}

const costField = (has: Has): CostField => {
  if (has(CACHE) || has(REASONING) || has(PARTS)) return 'cost_other'
  if (has(INPUT)) return 'cost_input'
  return has(OUTPUT) ? 'cost_output' : 'cost'
}

type Has = (some: ReadonlySet<string>) => boolean

const usageField = (parts: readonly string[], has: Has): UsageField | undefined => {
  if (has(NEGATED)) return 'uncached'
  if (has(CACHE)) return cacheField(parts, has)
  if (has(REASONING)) return 'reasoning'
  if (has(INPUT) && has(OUTPUT)) return undefined
  if (has(INPUT)) return 'input'
  if (has(OUTPUT)) return 'output'
  return has(TOTAL) || parts.at(-1) === 'tokens' ? 'total' : undefined
}

const cacheField = (parts: readonly string[], has: Has): UsageField | undefined => {
  if (!has(WRITE)) return has(OUTPUT) ? undefined : 'cache_read'
  if (parts.includes('1h')) return 'cache_write_1h'
  return parts.includes('5m') ? 'cache_write_5m' : 'cache_write'
}

/** Whether an object under a name may hold usage or cost. */
export const mayHoldUsage = (parts: readonly string[]): boolean =>
  !parts.some((word) => NO_USE.has(word)) &&
  parts.some((word) => TOKENS.has(word) || COST.has(word) || word === 'usage')
