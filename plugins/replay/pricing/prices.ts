import { GuardError, type Usage } from 'guard-gateway/core'
import { glob } from 'guard-gateway/lib/glob'
import { sha256 } from 'guard-gateway/lib/ids'
import { isJsonObject } from 'guard-gateway/lib/json'
import { readYamlOffThread, type Yaml } from 'guard-gateway/lib/yaml'
import { replayErrors } from '../error-codes.ts'

/** Prices of a model in millionths of the currency per million tokens. */
export interface Price {
  readonly input: bigint
  readonly output: bigint
  readonly cache_read: bigint
  readonly cache_write_5m: bigint
  readonly cache_write_1h: bigint
  readonly reasoning: bigint
}

export interface Prices {
  /** First 12 hex digits of the file's SHA-256. */
  readonly version: string
  readonly currency: string
  /** Number of names and patterns. */
  readonly models: number
  /** Price of a model by name, else by the longest matching pattern. */
  of(model: string): Price | undefined
}

const MAX_BYTES = 65_536
const FIELDS = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'reasoning'] as const
const MEMBERS: readonly string[] = ['version', 'currency', 'models']

type Fault = (path: readonly (string | number)[], message: string) => GuardError

/** Parses a price file. Rejects with INVALID_PRICING, or INVALID_YAML with line and column. */
export const readPrices = async (text: string): Promise<Prices> =>
  pricesIn(await readYamlOffThread(import.meta.resolve('yaml'), text, { max_bytes: MAX_BYTES }), text)

const pricesIn = (file: Yaml, text: string): Prices => {
  const fault: Fault = (path, message) => new GuardError(replayErrors.INVALID_PRICING, message, file.locate(path))
  const { version, currency, models } = membersOf(file.value, fault)
  if (version !== 1) throw fault(['version'], '"version" must be 1.')
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency))
    throw fault(['currency'], '"currency" must be three capital letters, such as USD.')
  if (!isJsonObject(models) || Array.isArray(models))
    throw fault(['models'], '"models" must name models and their prices.')
  const read = new Map(Object.keys(models).map((name) => [name, priceOf(models, name, fault, [])]))
  const patterns = [...read]
    .filter(([name]) => name.endsWith('*'))
    .sort(([a], [b]) => b.length - a.length)
    .map(([name, price]) => ({ matches: glob(name), price }))
  return {
    version: sha256(text).slice(0, 12),
    currency,
    models: read.size,
    of: (model) => read.get(model) ?? patterns.find(({ matches }) => matches(model))?.price,
  }
}

const membersOf = (value: unknown, fault: Fault): Readonly<Record<string, unknown>> => {
  if (!isJsonObject(value) || Array.isArray(value)) throw fault([], 'there must be version, currency and models here.')
  const odd = Object.keys(value).find((name) => !MEMBERS.includes(name))
  if (odd !== undefined) throw fault([odd], `there is no "${odd}"; there is ${MEMBERS.join(', ')}.`)
  return value
}

const priceOf = (
  models: Readonly<Record<string, unknown>>,
  name: string,
  fault: Fault,
  seen: readonly string[],
): Price => {
  const path = ['models', name]
  if (name.slice(0, -1).includes('*')) throw fault(path, 'only a * at the end is a pattern.')
  if (seen.includes(name)) throw fault(path, `the price of "${name}" leads back to itself.`)
  const entry = models[name]
  if (!isJsonObject(entry) || Array.isArray(entry)) return whole(units(entry, path, fault))
  const { same_as } = entry
  if (same_as !== undefined) {
    if (typeof same_as !== 'string' || !Object.hasOwn(models, same_as))
      throw fault([...path, 'same_as'], '"same_as" must name another model of this file.')
    return priceOf(models, same_as, fault, [...seen, name])
  }
  const odd = Object.keys(entry).find((field) => !FIELDS.some((known) => known === field))
  if (odd !== undefined) throw fault([...path, odd], `there is no "${odd}"; there is ${FIELDS.join(', ')}, same_as.`)
  const field = (key: (typeof FIELDS)[number], otherwise?: bigint): bigint =>
    entry[key] === undefined && otherwise !== undefined ? otherwise : units(entry[key], [...path, key], fault)
  const input = field('input')
  const output = field('output')
  return {
    input,
    output,
    cache_read: field('cache_read', input),
    cache_write_5m: field('cache_write_5m', input),
    cache_write_1h: field('cache_write_1h', input),
    reasoning: field('reasoning', output),
  }
}

const whole = (price: bigint): Price => ({
  input: price,
  output: price,
  cache_read: price,
  cache_write_5m: price,
  cache_write_1h: price,
  reasoning: price,
})

const units = (value: unknown, path: readonly (string | number)[], fault: Fault): bigint => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  throw fault(path, 'a price is an integer from 0: millionths of the currency per million tokens.')
}

const MILLION = 1_000_000n

/** Cost in millionths of the currency, rounded half up. Cache writes without a lifetime count as short ones. */
export const costOf = (price: Price, usage: Usage): bigint => {
  const { cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens } = usage
  const long = Math.min(cache_write_1h_tokens, cache_write_tokens)
  const thought = Math.min(reasoning_tokens, output_tokens)
  const sum =
    BigInt(usage.input_tokens) * price.input +
    BigInt(usage.cache_read_tokens) * price.cache_read +
    BigInt(cache_write_tokens - long) * price.cache_write_5m +
    BigInt(long) * price.cache_write_1h +
    BigInt(output_tokens - thought) * price.output +
    BigInt(thought) * price.reasoning
  return (sum + MILLION / 2n) / MILLION
}
