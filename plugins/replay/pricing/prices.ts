import { GuardError } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { isJsonObject, type JsonObject } from '#lib/json'
import { readLongYaml, type Yaml } from '#lib/yaml'
import { replayErrors } from '../error-codes.ts'
import type { Entry, Factor, Price, Rate } from './cost.ts'
import { type Found, ModelTable } from './model-names.ts'

/** Where prices were read. */
export interface Source {
  readonly url: string
  /** Date of the reading, `2026-11-27`. */
  readonly read: string
}

export interface Prices {
  /** First 12 hex digits of the file's SHA-256. */
  readonly version: string
  readonly currency: string
  /** Date for which the prices are right, `2026-11-27`; null if the file does not say it. */
  readonly as_of: string | null
  readonly sources: ReadonlyMap<string, Source>
  /** Number of names and patterns. */
  readonly models: number
  /** What the file says of a model; see `ModelTable.find`. */
  find(model: string): Found<Entry> | undefined
}

const MAX_BYTES = 1_048_576
const MEMBERS: readonly string[] = ['version', 'currency', 'as_of', 'sources', 'models']

/** Parses a price file. Rejects with INVALID_PRICING, or INVALID_YAML with line and column. */
export const readPrices = async (text: string): Promise<Prices> =>
  pricesIn(await readLongYaml(import.meta.resolve('yaml'), text, { max_bytes: MAX_BYTES }), text)

const pricesIn = (file: Yaml, text: string): Prices => {
  const fault: Fault = (path, message) => new GuardError(replayErrors.INVALID_PRICING, message, file.locate(path))
  const { version, currency, as_of, sources: listed, models } = membersOf(file.value, fault)
  if (version !== 1) throw fault(['version'], '"version" must be 1.')
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency))
    throw fault(['currency'], '"currency" must be three capital letters, such as USD.')
  if (as_of !== undefined && !isDate(as_of)) throw fault(['as_of'], '"as_of" must be a date, such as 2026-11-27.')
  const sources = sourcesIn(listed, fault)
  if (!isJsonObject(models) || Array.isArray(models))
    throw fault(['models'], '"models" must name models and their prices.')
  const entries = entriesIn(models, new Set(sources.keys()), fault)
  const table = new ModelTable(entries)
  return {
    version: sha256(text).slice(0, 12),
    currency,
    as_of: as_of ?? null,
    sources,
    models: entries.size,
    find: (model) => table.find(model),
  }
}

const membersOf = (value: unknown, fault: Fault): JsonObject => {
  if (!isJsonObject(value) || Array.isArray(value)) throw fault([], 'there must be version, currency and models here.')
  const odd = Object.keys(value).find((name) => !MEMBERS.includes(name))
  if (odd !== undefined) throw fault([odd], `there is no "${odd}"; there is ${MEMBERS.join(', ')}.`)
  return value
}

/** A day that the calendar has. */
const isDate = (value: unknown): value is string => {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false
  const time = Date.parse(value)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value)
}

const sourcesIn = (value: unknown, fault: Fault): ReadonlyMap<string, Source> => {
  if (value === undefined) return new Map()
  if (!isJsonObject(value) || Array.isArray(value))
    throw fault(['sources'], '"sources" must name sources, each with "url" and "read".')
  return new Map(
    Object.entries(value).map(([name, source]) => {
      const path = ['sources', name]
      const { url, read, ...rest } = isJsonObject(source) ? source : {}
      if (typeof url !== 'string' || !/^https?:\/\/\S+$/.test(url))
        throw fault([...path, 'url'], 'a source needs "url", an address that begins with https://.')
      if (!isDate(read)) throw fault([...path, 'read'], 'a source needs "read", a date such as 2026-11-27.')
      const [odd] = Object.keys(rest)
      if (odd !== undefined) throw fault([...path, odd], `there is no "${odd}"; there is url, read.`)
      return [name, { url, read }]
    }),
  )
}

const entriesIn = (models: JsonObject, sources: ReadonlySet<string>, fault: Fault): ReadonlyMap<string, Entry> => {
  const entryOf = (name: string, seen: readonly string[]): Entry => {
    const path = ['models', name]
    if (name.slice(0, -1).includes('*')) throw fault(path, 'only a * at the end is a pattern.')
    if (seen.includes(name)) throw fault(path, `the price of "${name}" leads back to itself.`)
    const same_as = isJsonObject(models[name]) ? models[name].same_as : undefined
    if (same_as === undefined) return readEntry(models[name], path, sources, fault)
    if (typeof same_as !== 'string' || !Object.hasOwn(models, same_as))
      throw fault([...path, 'same_as'], '"same_as" must name another model of this file.')
    return entryOf(same_as, [...seen, name])
  }
  return new Map(Object.keys(models).map((name) => [name, entryOf(name, [])]))
}

type Path = readonly (string | number)[]
type Fault = (path: Path, message: string) => GuardError

const PARTS = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'reasoning'] as const
const ENTRY_MEMBERS: readonly string[] = [...PARTS, 'tiers', 'service_tiers', 'regions', 'source', 'note', 'same_as']
const MAX_NOTE = 300

/** What the file says of one model: a number, or an object. */
const readEntry = (value: unknown, path: Path, sources: ReadonlySet<string>, fault: Fault): Entry => {
  if (!isJsonObject(value) || Array.isArray(value)) return { ...flat(units(value, path, fault)), ...bare }
  only(value, ENTRY_MEMBERS, path, fault)
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
