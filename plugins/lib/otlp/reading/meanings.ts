import type { SpanKind } from 'guard-gateway/core'
import type { CostField, Field, Sender, UsageField } from '../senders/sender.ts'

/** What the name of an attribute means. */
export interface Meaning {
  readonly field?: Field
  /** Whose name it is. */
  readonly sender?: Sender
  /** Which of several names of one fact counts: the least. */
  readonly rank: number
  /** The values of it that name a kind; null for a wrapper. */
  readonly kinds?: ReadonlyMap<string, SpanKind | null>
  /** The values of it that tell of a failure. */
  readonly failures?: ReadonlySet<unknown>
  /** An object or JSON text under the name may hold usage or cost. */
  readonly holds: boolean
  /** A cost in another unit or currency than US dollars. */
  readonly unit?: number
  readonly currency?: string
}

/** The rank of names that stand in no table. */
export const UNLISTED = 1_000

const SESSION = /(?:^|[._])(?:metadata|properties|attributes)\.(?:session[._]?id|thread[._]?id|conversation[._]?id)$/i
const TAGS = /(?:^|\.)(?:trace|run|association\.properties|metadata)\.tags$/
const KIND = /(?:span|observation|run|step)[._]?(?:kind|type)$/i

/** Kinds that senders of unknown spelling name by these words. */
const KINDS: ReadonlyMap<string, SpanKind | null> = new Map<string, SpanKind | null>([
  ...['llm', 'model', 'chat_model', 'generation', 'embedding', 'inference', 'llm_call'].map(
    (word) => [word, 'model'] as const,
  ),
  ...['tool', 'tool_call', 'function', 'mcp_tool_call'].map((word) => [word, 'tool'] as const),
  ...['agent', 'agent_run', 'workflow', 'workflow_run'].map((word) => [word, 'agent'] as const),
  ...['retriever', 'retrieval'].map((word) => [word, 'retrieval'] as const),
])

const UNITS: Readonly<Record<string, number>> = {
  micro: 1,
  micros: 1,
  microusd: 1,
  microdollars: 1,
  nano: 0.001,
  nanos: 0.001,
  cent: 10_000,
  cents: 10_000,
  milli: 1_000,
  millis: 1_000,
  millicent: 10,
  millicents: 10,
  millidollars: 1_000,
  nanodollars: 0.001,
  nanousd: 0.001,
}
const CURRENCIES = new Set(['usd', 'eur', 'gbp', 'jpy', 'cny', 'chf', 'inr', 'krw', 'cad', 'aud', 'brl'])

interface Listed {
  readonly rank: number
  readonly sender: Sender
  field?: Field
  kinds?: ReadonlyMap<string, SpanKind | null>
  failures?: ReadonlySet<unknown>
  holds?: true
}

/** The names of senders, found by name. */
export interface NameTable {
  readonly senders: readonly Sender[]
  readonly listed: ReadonlyMap<string, Listed>
}

export const nameTable = (senders: readonly Sender[]): NameTable => ({ senders, listed: listedIn(senders) })

const listedIn = (table: readonly Sender[]): ReadonlyMap<string, Listed> => {
  const listed = new Map<string, Listed>()
  for (const [at, sender] of table.entries())
    list(sender, (name, index = 0) => entryOf(listed, name, at * 10 + index, sender))
  return listed
}

const entryOf = (listed: Map<string, Listed>, name: string, rank: number, sender: Sender): Listed => {
  const found = listed.get(name) ?? { rank, sender }
  listed.set(name, found)
  return found
}

const list = (
  { names = {}, holders = [], kinds = {}, failures = {} }: Sender,
  entry: (name: string, index?: number) => Listed,
): void => {
  for (const [field, spellings] of Object.entries(names))
    for (const [index, name] of spellings.entries()) entry(name, index).field ??= field as Field
  for (const name of holders) entry(name).holds = true
  for (const [name, values] of Object.entries(kinds)) {
    const known = entry(name)
    known.kinds = new Map([...Object.entries(values), ...(known.kinds ?? [])])
  }
  for (const [name, values] of Object.entries(failures)) entry(name).failures = new Set(values)
}

/** Names that are read of one process or request are few; more are not remembered. */
const MAX_REMEMBERED = 5_000

/** What attribute names mean, from the table of senders and from the words of names that it lacks. */
export class Meanings {
  readonly #senders: readonly Sender[]
  readonly #listed: ReadonlyMap<string, Listed>
  readonly #known = new Map<string, Meaning | undefined>()

  constructor({ senders, listed }: NameTable) {
    this.#senders = senders
    this.#listed = listed
  }

  /** Undefined: the name says nothing of what is read. */
  of(name: string): Meaning | undefined {
    if (this.#known.has(name)) return this.#known.get(name)
    const meaning = this.#meaningOf(name)
    if (this.#known.size < MAX_REMEMBERED && name.length <= 256) this.#known.set(name, meaning)
    return meaning
  }

  #meaningOf(name: string): Meaning | undefined {
    const listed = this.#listed.get(name)
    if (listed === undefined && (name.startsWith('guard.') || name.length > 256)) return undefined
    const parts = nameWords(name)
    const holds = listed?.holds ?? mayHoldUsage(parts)
    if (listed !== undefined) return { ...listed, holds, ...costUnit(listed.field, parts) }
    const sender = this.#senders.find(({ prefix }) => prefix !== undefined && name.startsWith(prefix))
    const about = { rank: UNLISTED, holds, ...(sender && { sender }) }
    if (SESSION.test(name)) return { ...about, field: 'session' }
    if (TAGS.test(name)) return { ...about, field: 'tags' }
    if (KIND.test(name)) return { ...about, kinds: KINDS }
    const field = usageOrCost(parts)
    if (field !== undefined) return { ...about, field, ...costUnit(field, parts) }
    return holds ? about : undefined
  }
}

const costUnit = (field: Field | undefined, parts: readonly string[]): Pick<Meaning, 'unit' | 'currency'> => {
  if (field === undefined || !field.startsWith('cost')) return {}
  const unit = parts.map((part) => UNITS[part]).find((found) => found !== undefined)
  const currency = parts.find((part) => CURRENCIES.has(part))
  return {
    ...(unit === undefined ? {} : { unit }),
    ...(currency === undefined ? {} : { currency: currency.toUpperCase() }),
  }
}

/** An attribute name as lower-case words: `ai.usage.cachedInputTokens` is ai, usage, cached, input, tokens; `1h` stays one word. */
const nameWords = (name: string): readonly string[] =>
  name
    .replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1 ')
    .replace(/(\p{L})(?=\p{N})/gu, '$1 ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')

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
const usageOrCost = (parts: readonly string[]): UsageField | CostField | undefined => {
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
const mayHoldUsage = (parts: readonly string[]): boolean =>
  !parts.some((word) => NO_USE.has(word)) &&
  parts.some((word) => TOKENS.has(word) || COST.has(word) || word === 'usage')
