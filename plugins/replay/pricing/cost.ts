import type { Usage } from 'guard-gateway/core'

/** Prices of a model in millionths of the currency per million tokens. */
export interface Price {
  readonly input: bigint
  readonly output: bigint
  readonly cache_read: bigint
  readonly cache_write_5m: bigint
  readonly cache_write_1h: bigint
  readonly reasoning: bigint
}

/** A price, and those of requests with more input: such a request costs the higher price as a whole. */
export interface Rate extends Price {
  /** The greatest first. `above`: input tokens, cached ones included. */
  readonly tiers: readonly (Price & { readonly above: number })[]
}

/** A factor as an exact fraction. */
export interface Factor {
  readonly times: bigint
  readonly per: bigint
}

/** What a price file says of a model. */
export interface Entry extends Rate {
  /** By service tier: a factor, or prices in place of the usual ones. */
  readonly service_tiers: ReadonlyMap<string, Rate | Factor>
  readonly regions: ReadonlyMap<string, Factor>
  /** Name of the source of its prices. */
  readonly source: string | null
  /** What a reader should know of its prices. */
  readonly note: string | null
}

/** Under which terms a request was answered; null: nothing is known. */
export interface Terms {
  /** As the provider calls it, such as `batch`. */
  readonly service_tier?: string | null | undefined
  /** Where it was answered, such as `us`. */
  readonly region?: string | null | undefined
}

/** The prices of one request, and the factors on them. */
export interface Charge {
  readonly price: Price
  readonly factors: readonly Factor[]
  /** Input tokens from which on its price applies; null: no tier. */
  readonly above: number | null
  /** The service tier whose price applies; null: the usual one. */
  readonly service_tier: string | null
  /** The region whose factor applies. */
  readonly region: string | null
}

/** What providers call the usual service tier. */
const USUAL: ReadonlySet<string> = new Set(['default', 'standard', 'auto', 'on_demand', 'not_available', 'unspecified'])
/** Other names of service tiers. OpenAI calls priority processing fast mode; Vertex AI names its traffic. */
const ALIASES: Readonly<Record<string, string>> = {
  fast: 'priority',
  on_demand_priority: 'priority',
  on_demand_flex: 'flex',
}

/** A service tier as it is looked up; null for the usual one. */
export const tierName = (tier: string | null | undefined): string | null => {
  const name = tier?.toLowerCase() ?? ''
  return name === '' || USUAL.has(name) ? null : name
}

/** Prices for this usage of a model under these terms. A service tier or region without a price costs the usual one. */
export const chargeOf = (entry: Entry, usage: Usage, { service_tier, region }: Terms = {}): Charge => {
  const requestedTier = tierName(service_tier)
  const named =
    requestedTier === null
      ? null
      : ([requestedTier, ALIASES[requestedTier] ?? requestedTier].find((name) => entry.service_tiers.has(name)) ?? null)
  const tier = named === null ? undefined : entry.service_tiers.get(named)
  const rate = tier === undefined || isFactor(tier) ? entry : tier
  const all = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
  const above = rate.tiers.find((each) => all > each.above)
  const place = region?.toLowerCase() ?? ''
  const surcharge = entry.regions.get(place)
  return {
    price: above ?? rate,
    factors: [tier, surcharge].filter((factor) => factor !== undefined).filter(isFactor),
    above: above?.above ?? null,
    service_tier: named,
    region: surcharge === undefined ? null : place,
  }
}

const isFactor = (value: Rate | Factor): value is Factor => 'per' in value

const MILLION = 1_000_000n

/** Cost in millionths of the currency, rounded half up once. Cache writes without a lifetime count as short ones. */
export const costOf = (price: Price, usage: Usage, factors: readonly Factor[] = []): bigint => {
  const { cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens } = usage
  const long = Math.min(cache_write_1h_tokens, cache_write_tokens)
  const thought = Math.min(reasoning_tokens, output_tokens)
  let sum =
    BigInt(usage.input_tokens) * price.input +
    BigInt(usage.cache_read_tokens) * price.cache_read +
    BigInt(cache_write_tokens - long) * price.cache_write_5m +
    BigInt(long) * price.cache_write_1h +
    BigInt(output_tokens - thought) * price.output +
    BigInt(thought) * price.reasoning
  let parts = MILLION
  for (const { times, per } of factors) {
    sum *= times
    parts *= per
  }
  return (sum + parts / 2n) / parts
}
