import type { GuardError } from 'guard-gateway/core'
import { isJsonObject, type JsonObject } from '#lib/json'
import type { Entry, Factor, Price, Rate } from './cost.ts'

export type Path = readonly (string | number)[]
export type Fault = (path: Path, message: string) => GuardError

const PARTS = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'reasoning'] as const
const MEMBERS: readonly string[] = [...PARTS, 'tiers', 'service_tiers', 'regions', 'source', 'note', 'same_as']
const MAX_NOTE = 300

/** What the file says of one model: a number, or an object. */
export const readEntry = (value: unknown, path: Path, sources: ReadonlySet<string>, fault: Fault): Entry => {
  if (!isJsonObject(value) || Array.isArray(value)) return { ...flat(units(value, path, fault)), ...bare }
  only(value, MEMBERS, path, fault)
  return {
    ...rateOf(value, path, fault),
    service_tiers: mapOf(value.service_tiers, [...path, 'service_tiers'], fault, tierOf),
    regions: mapOf(value.regions, [...path, 'regions'], fault, factorOf),
    source: sourceOf(value.source, [...path, 'source'], sources, fault),
    note: noteOf(value.note, [...path, 'note'], fault),
  }
}

const bare = { service_tiers: new Map(), regions: new Map(), source: null, note: null } as const

const flat = (price: bigint): Rate => ({
  input: price,
  output: price,
  cache_read: price,
  cache_write_5m: price,
  cache_write_1h: price,
  reasoning: price,
  tiers: [],
})

const only = (value: JsonObject, known: readonly string[], path: Path, fault: Fault): void => {
  const odd = Object.keys(value).find((name) => !known.includes(name))
  if (odd !== undefined) throw fault([...path, odd], `there is no "${odd}"; there is ${known.join(', ')}.`)
}

const priceOf = (value: JsonObject, path: Path, fault: Fault): Price => {
  const part = (name: (typeof PARTS)[number], otherwise?: bigint): bigint =>
    value[name] === undefined && otherwise !== undefined ? otherwise : units(value[name], [...path, name], fault)
  const input = part('input')
  const output = part('output')
  return {
    input,
    output,
    cache_read: part('cache_read', input),
    cache_write_5m: part('cache_write_5m', input),
    cache_write_1h: part('cache_write_1h', input),
    reasoning: part('reasoning', output),
  }
}

const rateOf = (value: JsonObject, path: Path, fault: Fault): Rate => {
  const price = priceOf(value, path, fault)
  const { tiers = [] } = value
  const at = [...path, 'tiers']
  if (!Array.isArray(tiers)) throw fault(at, '"tiers" must be a list of prices, each with "above".')
  const read = tiers.map((tier: unknown, index) => {
    const place = [...at, index]
    if (!isJsonObject(tier)) throw fault(place, 'a tier must be prices with "above".')
    only(tier, ['above', ...PARTS], place, fault)
    return { above: aboveOf(tier.above, [...place, 'above'], fault), ...priceOf(tier, place, fault) }
  })
  const twice = read.findIndex(({ above }, index) => read.findIndex((other) => other.above === above) < index)
  if (twice !== -1) throw fault([...at, twice], `there are two tiers above ${read[twice]?.above} tokens.`)
  return { ...price, tiers: read.sort((one, other) => other.above - one.above) }
}

const aboveOf = (value: unknown, path: Path, fault: Fault): number => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw fault(path, '"above" must be the input tokens, an integer from 1, above which the price applies.')
}

const mapOf = <T>(
  value: unknown,
  path: Path,
  fault: Fault,
  read: (value: unknown, path: Path, fault: Fault) => T,
): ReadonlyMap<string, T> => {
  if (value === undefined) return new Map()
  if (!isJsonObject(value) || Array.isArray(value)) throw fault(path, `"${path.at(-1)}" must give names a factor.`)
  return new Map(
    Object.entries(value).map(([name, part]) => {
      const place = [...path, name]
      if (!/^[a-z0-9][a-z0-9_.-]*$/.test(name))
        throw fault(place, 'a name here is lower case letters, digits, _ and -.')
      return [name, read(part, place, fault)]
    }),
  )
}

const tierOf = (value: unknown, path: Path, fault: Fault): Rate | Factor => {
  if (!isJsonObject(value) || Array.isArray(value)) return factorOf(value, path, fault)
  only(value, [...PARTS, 'tiers'], path, fault)
  return rateOf(value, path, fault)
}

/** A number of at most four decimals, taken as it is written. */
const factorOf = (value: unknown, path: Path, fault: Fault): Factor => {
  const written = typeof value === 'number' ? /^(\d{1,4})(?:\.(\d{1,4}))?$/.exec(String(value)) : null
  if (written === null)
    throw fault(path, 'a factor is a number from 0 with at most four decimals, such as 0.5 or 1.1; or give prices.')
  const [, whole = '', decimals = ''] = written
  return { times: BigInt(whole + decimals), per: 10n ** BigInt(decimals.length) }
}

const sourceOf = (value: unknown, path: Path, sources: ReadonlySet<string>, fault: Fault): string | null => {
  if (value === undefined) return null
  if (typeof value === 'string' && sources.has(value)) return value
  throw fault(path, `"source" must name one of "sources": ${[...sources].join(', ') || 'there are none'}.`)
}

const noteOf = (value: unknown, path: Path, fault: Fault): string | null => {
  if (value === undefined) return null
  if (typeof value === 'string' && value.length <= MAX_NOTE) return value
  throw fault(path, `"note" must be text of at most ${MAX_NOTE} characters.`)
}

const units = (value: unknown, path: Path, fault: Fault): bigint => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  throw fault(path, 'a price is an integer from 0: millionths of the currency per million tokens.')
}
