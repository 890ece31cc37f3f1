import type { Attributes, SpanKind } from 'guard-gateway/core'
import { isJsonObject, type JsonObject } from '#lib/json'
import type { CostField, Field, RunField, Sender, SpanField, UsageField } from '../senders/sender.ts'
import { senders } from '../senders/table.ts'
import { type Meaning, Meanings, nameTable, UNLISTED } from './meanings.ts'

export type TextField = SpanField | RunField

const USAGE = new Set<Field>([
  'input',
  'uncached',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_5m',
  'cache_write_1h',
  'reasoning',
  'total',
] satisfies UsageField[])
const COST = new Set<Field>(['cost', 'cost_input', 'cost_output', 'cost_other'] satisfies CostField[])

interface Ranked<T> {
  readonly rank: number
  readonly value: T
  /** Whose name it was under. */
  readonly sender?: Sender | undefined
}

/** What the attributes of one span or resource say, whatever they call it. */
export interface SenderReport {
  readonly texts: ReadonlyMap<TextField, Ranked<string>>
  readonly tags: Ranked<readonly string[]> | undefined
  readonly usage: ReadonlyMap<UsageField, Ranked<number>>
  /** Millionths of the currency. */
  readonly cost: ReadonlyMap<CostField, Ranked<number>>
  readonly currency: string | undefined
  /** Null: a wrapper of the spans that count. */
  readonly kind: SpanKind | null | undefined
  readonly failed: boolean
  /** Whose scope made the span. */
  readonly sender: Sender | undefined
  /** Names of counts and amounts that cannot be what they are called. */
  readonly refused: readonly string[]
}

const MAX_DEPTH = 3
const MAX_REFUSED = 3
/** A name that holds no text. */
const PLAIN_NAME = /^[\w.:-]{1,80}$/

/** Names that mean the same on every span. */
const everywhere = nameTable(senders.filter(({ scoped }) => scoped === undefined))

/** Reads attributes name by name. Remembers what names mean, so one serves a request or a file. */
export class SenderReader {
  readonly #everywhere = new Meanings(everywhere)
  readonly #scopes = new Map<string, Scope>()

  /** `scope`: the name of the scope that made the span, if it has one. */
  read(attributes: Attributes, scope?: unknown): SenderReport {
    const { meanings, sender } = typeof scope === 'string' ? this.#scope(scope) : { meanings: this.#everywhere }
    const found = new Findings(sender)
    for (const [name, value] of Object.entries(attributes)) take(found, meanings, name, value)
    return found
  }

  #scope(name: string): Scope {
    const known = this.#scopes.get(name)
    if (known !== undefined) return known
    const own = senders.filter(({ scopes }) => scopes?.test(name))
    const isScoped = own.some(({ scoped }) => scoped)
    const meanings = isScoped
      ? new Meanings(nameTable(senders.filter((sender) => sender.scoped === undefined || own.includes(sender))))
      : this.#everywhere
    const scope = { meanings, sender: own[0] }
    if (this.#scopes.size < MAX_SCOPES) this.#scopes.set(name, scope)
    return scope
  }
}

interface Scope {
  readonly meanings: Meanings
  readonly sender?: Sender | undefined
}

const MAX_SCOPES = 200

const take = (found: Findings, meanings: Meanings, name: string, value: unknown, holder?: Sender, depth = 0): void => {
  if (value === null || value === '') return
  const meaning = meanings.of(name)
  if (meaning === undefined) return
  const sender = holder ?? meaning.sender
  const held = meaning.holds && depth < MAX_DEPTH ? heldIn(value) : undefined
  if (held === undefined) found.take(name, meaning, value, sender)
  else for (const [key, part] of Object.entries(held)) take(found, meanings, `${name}.${key}`, part, sender, depth + 1)
}

/** A text; JSON text of a text counts as that. */
const textIn = (value: unknown): string | undefined => {
  if (typeof value !== 'string') return undefined
  if (!(value.startsWith('"') && value.endsWith('"') && value.length > 2)) return value
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'string' ? parsed : value
  } catch {
    return value
  }
}

const MAX_TAGS = 20

/** A list of texts, also one in JSON text or with commas. */
const tagsIn = (value: unknown): readonly string[] => {
  const list = typeof value === 'string' ? listIn(value) : value
  return Array.isArray(list)
    ? list.flatMap((tag) => (typeof tag === 'string' && tag.trim() !== '' ? [tag.trim()] : [])).slice(0, MAX_TAGS)
    : []
}

const listIn = (text: string): unknown => {
  if (!text.startsWith('[')) return text.split(',')
  try {
    return JSON.parse(text)
  } catch {
    return []
  }
}

/** Names of what a cost is counted in. */
const UNIT_NAME = /(?:currency|units?)$/i
const NUMERIC = /^[-+]?\d/
const DOLLARS = /^(?:usd|us[ _-]?dollars?|dollars?|us\$|\$)$/i
const UNIT = /^(?:\p{L}{1,6}|\p{Sc})$/u

/** What a value says a cost is counted in; undefined for one that is no name of a unit. */
const unitIn = (name: string, value: unknown): string | undefined => {
  const named = UNIT_NAME.test(name) ? textIn(value)?.trim() : undefined
  if (named === undefined || NUMERIC.test(named)) return undefined
  if (DOLLARS.test(named)) return 'USD'
  return UNIT.test(named) ? named.toUpperCase() : 'another unit'
}

class Findings implements SenderReport {
  readonly texts = new Map<TextField, Ranked<string>>()
  tags: Ranked<readonly string[]> | undefined
  readonly usage = new Map<UsageField, Ranked<number>>()
  readonly cost = new Map<CostField, Ranked<number>>()
  currency: string | undefined
  kind: SpanKind | null | undefined
  #kindRank = Number.POSITIVE_INFINITY
  failed = false
  readonly refused: string[] = []
  /** Whose scope made the span. */
  readonly sender: Sender | undefined

  constructor(sender: Sender | undefined) {
    this.sender = sender
  }

  take(name: string, meaning: Meaning, value: unknown, sender: Sender | undefined): void {
    const { field, rank, kinds, failures } = meaning
    if (kinds !== undefined) this.#kind(kinds.get(String(textIn(value)).toLowerCase()), rank)
    if (failures?.has(typeof value === 'string' ? value.toLowerCase() : value)) this.failed = true
    if (field === undefined) return
    if (USAGE.has(field)) this.#count(this.usage, field as UsageField, name, { rank, value: tokenCount(value), sender })
    else if (COST.has(field)) this.#amount(field as CostField, name, value, meaning, sender)
    else if (field === 'tags') this.#tags(rank, tagsIn(value))
    else if (field === 'finish_reasons') this.failed ||= tagsIn(value).includes('error')
    else this.#text(field as TextField, rank, textIn(value))
  }

  #kind(kind: SpanKind | null | undefined, rank: number): void {
    if (kind === undefined || rank >= this.#kindRank) return
    this.kind = kind
    this.#kindRank = rank
  }

  #amount(field: CostField, name: string, value: unknown, meaning: Meaning, sender: Sender | undefined): void {
    const { rank, unit, currency } = meaning
    const named = unitIn(name, value)
    if (named !== undefined) {
      this.currency = named
      return
    }
    if (currency !== undefined) this.currency ??= currency
    const micro = costMicro(value, unit)
    const before = field === 'cost_other' ? this.cost.get(field)?.value : undefined
    if (before === undefined || micro === undefined) this.#count(this.cost, field, name, { rank, value: micro, sender })
    else this.cost.set(field, { rank, value: before + micro })
  }

  #count<F>(into: Map<F, Ranked<number>>, field: F, name: string, ranked: Ranked<number | undefined>): void {
    const { rank, value } = ranked
    if (value === undefined) {
      if (rank < UNLISTED && this.refused.length < MAX_REFUSED && PLAIN_NAME.test(name)) this.refused.push(name)
    } else if (rank < (into.get(field)?.rank ?? UNLISTED + 1)) into.set(field, { ...ranked, value })
  }

  #tags(rank: number, value: readonly string[]): void {
    if (value.length > 0 && rank < (this.tags?.rank ?? UNLISTED + 1)) this.tags = { rank, value }
  }

  #text(field: TextField, rank: number, value: string | undefined): void {
    if (value === undefined || value.trim() === '') return
    if (rank < (this.texts.get(field)?.rank ?? UNLISTED + 1)) this.texts.set(field, { rank, value })
  }
}

/** More tokens than this in one call are no count of tokens. */
const MAX_TOKENS = 1e12
/** The same of money, in millionths. */
const MAX_COST_MICRO = 1e15

const NUMBER = /^\d{1,20}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,2})?$/

const numberOf = (value: unknown): number => {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : Number.NaN
}

/** A count of tokens, rounded; undefined for what is none: negative, not finite, absurd, no number. */
const tokenCount = (value: unknown): number | undefined => {
  const count = Math.round(numberOf(value))
  return count >= 0 && count <= MAX_TOKENS ? count + 0 : undefined
}

/** An amount in millionths, rounded, from one in units of `unit` millionths; undefined for what is none. */
const costMicro = (value: unknown, unit = 1_000_000): number | undefined => {
  const micro = Math.round(numberOf(value) * unit)
  return micro >= 0 && micro <= MAX_COST_MICRO ? micro + 0 : undefined
}

/** Longer JSON text is not parsed. */
const MAX_JSON_CHARS = 65_536

/** The usage within a longer text, whose end may have been cut. */
const USAGE_PART = /"usage(?:_?[mM]etadata)?"\s*:\s*(\{(?:[^{}]|\{[^{}]*\})*\})/

/** The object of a value, also of one in JSON text; of text that is too long or cut, the usage in it. */
const heldIn = (value: unknown): JsonObject | undefined => {
  if (isJsonObject(value)) return value
  if (typeof value !== 'string' || !/^\s*\{/.test(value)) return undefined
  const whole = value.length > MAX_JSON_CHARS ? undefined : parsed(value)
  if (whole !== undefined) return whole
  const part = USAGE_PART.exec(value.slice(0, MAX_JSON_CHARS))?.[1]
  const usage = part === undefined ? undefined : parsed(part)
  return usage && { usage }
}

const parsed = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
