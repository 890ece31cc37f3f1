import { GuardError } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { isJsonObject, type JsonObject } from '#lib/json'
import { readLongYaml, type Yaml } from '#lib/yaml'
import { replayErrors } from '../error-codes.ts'
import type { Entry } from './cost.ts'
import { type Found, ModelTable } from './model-names.ts'
import { type Fault, readEntry } from './price-entry.ts'

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
