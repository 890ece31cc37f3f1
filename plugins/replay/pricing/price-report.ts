import { type Found as FoundRows, type Gateway, noUsage, type Storage } from 'guard-gateway/core'
import { isPlayground } from '#lib/trace'
import type { SpanRow } from '../tables.ts'
import { chargeOf, type Entry, type Factor, type Price, type Rate, tierName } from './cost.ts'
import { termsOf } from './priced-span.ts'
import type { Prices } from './prices.ts'
import type { Pricing, PricingHealth } from './pricing.ts'

/** Prices as plain numbers: millionths of the currency per million tokens. */
type PriceParts = Readonly<Record<keyof Price, number>>

/** What the price file says of one model. */
export interface PriceEntry extends PriceParts {
  readonly model: string
  /** The name or pattern in the file. */
  readonly listed: string
  /** The region that the name says; null if it says none. */
  readonly region: string | null
  readonly tiers: readonly (PriceParts & { readonly above: number })[]
  /** A factor as it is written, or prices. */
  readonly service_tiers: Readonly<Record<string, string | (PriceParts & Pick<PriceEntry, 'tiers'>)>>
  readonly regions: Readonly<Record<string, string>>
  readonly source: string | null
  readonly note: string | null
}

/** A model on record, or a service tier of one, without a price. */
export interface Unpriced {
  readonly model: string
  /** The tier without a price, which costs the usual one; null: the model has none. */
  readonly service_tier: string | null
  readonly calls: number
  readonly spans: number
  readonly tokens: number
}

export interface PriceReport extends PricingHealth {
  readonly sources: readonly { readonly name: string; readonly url: string; readonly read: string }[]
  /** Days of calls that were looked at, and the greatest number of spans. */
  readonly looked_at: { readonly days: number; readonly spans: number }
  readonly unpriced: readonly Unpriced[]
}

const DAYS = 30
const DAY_MS = 86_400_000
const MAX_SPANS = 5_000
const PAGE = 500

/** The price file, and what is on record without a price: calls of 30 days, and the newest 5,000 model spans of other senders. */
export const priceReport = async ({ clock, storage }: Gateway, pricing: Pricing): Promise<PriceReport> => {
  const found = new Map<string, { -readonly [K in keyof Unpriced]: Unpriced[K] }>()
  const note = (models: readonly (string | null)[], tier: string | null, use: Partial<Unpriced>): void => {
    const named = models.filter((model) => model !== null && model !== '')
    const [model] = named
    if (typeof model !== 'string') return
    const service_tier = missingTier(pricing.prices, named as readonly string[], tier)
    if (service_tier === undefined) return
    const key = JSON.stringify([model, service_tier])
    const one = found.get(key) ?? { model, service_tier, calls: 0, spans: 0, tokens: 0 }
    one.calls += use.calls ?? 0
    one.spans += use.spans ?? 0
    one.tokens += use.tokens ?? 0
    found.set(key, one)
  }
  for (const { models, tier, calls, tokens } of await callsOf(storage, clock.now() - DAYS * DAY_MS))
    note(models, tier, { calls, tokens })
  for await (const { model, attributes, input_tokens, output_tokens } of modelSpans(storage)) {
    const tokens = Number((input_tokens ?? 0n) + (output_tokens ?? 0n))
    if (tokens > 0) note([model], termsOf(attributes).service_tier ?? null, { spans: 1, tokens })
  }
  return {
    ...pricing.health(),
    sources: [...(pricing.prices?.sources ?? [])].map(([name, source]) => ({ name, ...source })),
    looked_at: { days: DAYS, spans: MAX_SPANS },
    unpriced: [...found.values()].sort((one, other) => other.tokens - one.tokens || (one.model < other.model ? -1 : 1)),
  }
}

/** The tier that has no price, null if the model has none, undefined if all has one. */
const missingTier = (
  prices: Prices | undefined,
  models: readonly string[],
  tier: string | null,
): string | null | undefined => {
  const found = models.map((model) => prices?.find(model)).find((each) => each !== undefined)
  if (found === undefined) return null
  const requestedTier = tierName(tier)
  return requestedTier !== null && chargeOf(found.value, noUsage, { service_tier: requestedTier }).service_tier === null
    ? requestedTier
    : undefined
}

const callsOf = async (storage: Storage, since: number) => {
  if (!storage.has('calls')) return []
  const groups = await storage.sum('calls', {
    where: { received_at: { gte: since } },
    order: ['received_at', 'asc'],
    by: ['model_replied', 'model_requested', 'service_tier', 'upstream'],
    of: ['total_tokens'],
  })
  return groups
    .filter(({ by, sums }) => sums.total_tokens > 0 && !isPlayground({ upstream: by.upstream }))
    .map(({ by, rows, sums }) => ({
      models: [textOf(by.model_replied), textOf(by.model_requested)],
      tier: textOf(by.service_tier),
      calls: rows,
      tokens: sums.total_tokens,
    }))
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The newest model spans of other senders. */
async function* modelSpans(storage: Storage): AsyncGenerator<SpanRow> {
  const query = { where: { kind: 'model', owner: 'client' }, order: ['recorded', 'desc'], limit: PAGE } as const
  let cursor: string | null = null
  for (let pages = 0; pages < MAX_SPANS / PAGE; pages++) {
    const page: FoundRows<SpanRow> = await storage.find('spans', cursor === null ? query : { ...query, cursor })
    yield* page.rows
    if (page.next_cursor === null) return
    cursor = page.next_cursor
  }
}

/** What the price file says of a model; undefined without a price. */
export const priceEntry = (prices: Prices | undefined, model: string): PriceEntry | undefined => {
  const found = prices?.find(model)
  if (found === undefined) return undefined
  const { value, listed, region } = found
  const { service_tiers, regions, source, note } = value
  return {
    ...{ model, listed, region },
    ...rateOf(value),
    service_tiers: mapped(service_tiers, (tier) => ('per' in tier ? factorText(tier) : rateOf(tier))),
    regions: mapped(regions, factorText),
    ...{ source, note },
  }
}

const mapped = <T, R>(map: ReadonlyMap<string, T>, of: (value: T) => R): Readonly<Record<string, R>> =>
  Object.fromEntries([...map].map(([name, value]) => [name, of(value)]))

const partsOf = ({ input, output, cache_read, cache_write_5m, cache_write_1h, reasoning }: Price): PriceParts => ({
  input: Number(input),
  output: Number(output),
  cache_read: Number(cache_read),
  cache_write_5m: Number(cache_write_5m),
  cache_write_1h: Number(cache_write_1h),
  reasoning: Number(reasoning),
})

const rateOf = (rate: Rate | Entry): PriceParts & Pick<PriceEntry, 'tiers'> => ({
  ...partsOf(rate),
  tiers: rate.tiers.map((tier) => ({ above: tier.above, ...partsOf(tier) })),
})

const factorText = ({ times, per }: Factor): string => String(Number(times) / Number(per))
