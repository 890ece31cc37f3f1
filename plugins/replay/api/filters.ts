import { failureTags, GuardError, type Order, type Origin, type Query, type Test } from 'guard-gateway/core'
import { rejectUnknown } from '#lib/errors'
import { parseDatedCursor } from '#lib/paging'
import { queryTokens } from '#lib/text'
import { instantOf } from '#lib/time'
import type { RunRow } from '../tables.ts'
import { NS_PER_MS, withinNs } from '../time.ts'
import { facet } from '../write/search-words.ts'
import { type AttributeTest, attributeTest, tokenOfTest } from './attribute-tests.ts'

/** Parsed query string; a repeated parameter is a list. */
export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>

const equal = ['project_id', 'session_id', 'agent_id', 'agent_name', 'task_id', 'origin'] as const
const identifying = ['project_id', 'session_id', 'agent_id'] as const
const facets = ['tag', 'model', 'tool'] as const
const otherOrigins: readonly Origin[] = ['gateway', 'mcp', 'api', 'otlp', 'import']
const sortColumns = {
  recorded: 'recorded',
  start: 'start_ns',
  duration: 'duration_ns',
  cost: 'cost_micro',
  tokens: 'total_tokens',
} as const satisfies Readonly<Record<string, 'recorded' | keyof RunRow>>

/** What a list can be sorted by. */
export const sorts: readonly string[] = Object.keys(sortColumns)

export const filterNames = [
  'q',
  'agent',
  ...equal,
  'playground',
  'noise',
  'status',
  'failure_tag',
  ...facets,
  'attribute',
  'pinned',
  'since',
  'until',
  'min_duration_ms',
  'max_duration_ms',
  'min_cost_micro',
  'min_tokens',
  'sort',
  'order',
  'limit',
  'cursor',
] as const
type Name = (typeof filterNames)[number]

const MAX_LIMIT = 200

const invalid = (name: Name, expected: string): GuardError =>
  new GuardError('INVALID_FILTER', `"${name}" must be ${expected}.`, { path: `/${name}` })

/** Storage query of a list, all but its agent, which has two columns; `now` is milliseconds since 1970. Throws UNKNOWN_FILTER and INVALID_FILTER. */
export const runQuery = (query: RawQuery, now: number): Query<RunRow> => {
  rejectUnknown(query, filterNames)
  const search = tokensOf(query)
  const { cursor, now: begun } = parseDatedCursor(oneOf(query, 'cursor'), now)
  return {
    where: {
      ...equalTests(query),
      ...listTests(query),
      ...rangeTests(query, begun),
    },
    ...(search.length === 0 ? {} : { search }),
    order: orderOf(query),
    limit: limitOf(query),
    ...(cursor === undefined ? {} : { cursor }),
  }
}

/** Built-in statuses; programs may send others. */
export const statuses: readonly string[] = ['running', 'ok', 'error', 'cancelled', 'timeout', 'blocked']

/** Single value of a parameter; an empty one counts as absent. */
export const oneOf = (query: RawQuery, name: Name): string | undefined => {
  const value = query[name]
  if (typeof value === 'object') throw invalid(name, 'given once')
  return value === '' ? undefined : value
}

/** Values of a parameter that may be repeated. */
const eachOf = (query: RawQuery, name: Name): readonly string[] =>
  [query[name] ?? []].flat().filter((value) => value !== '')

/** The attribute tests of a list. Throws INVALID_FILTER. */
export const attributeTests = (query: RawQuery): readonly AttributeTest[] => {
  const texts = eachOf(query, 'attribute')
  if (texts.length > MAX_ATTRIBUTES) throw invalid('attribute', `given ${MAX_ATTRIBUTES} times at most`)
  return texts.map(attributeTest)
}

const MAX_ATTRIBUTES = 16

const tokensOf = (query: RawQuery): readonly string[] => {
  const q = oneOf(query, 'q')
  const tokens = q === undefined ? [] : queryTokens(q)
  if (q !== undefined && tokens.length === 0) throw invalid('q', 'words to look for')
  const expected = facets.flatMap((name) => eachOf(query, name).map((value) => facet(name, value)))
  const searchTokens = [...tokens, ...expected, ...attributeTests(query).flatMap((test) => tokenOfTest(test) ?? [])]
  // ids are search words of their runs, so the search index skips other runs
  return searchTokens.length === 0
    ? searchTokens
    : [...searchTokens, ...identifying.flatMap((name) => queryTokens(oneOf(query, name) ?? ''))]
}

const equalTests = (query: RawQuery): Record<string, Test<string> | Test<boolean> | null> => {
  const tests: Record<string, Test<string> | Test<boolean> | null> = {}
  for (const name of equal) {
    const value = oneOf(query, name)
    if (value !== undefined) tests[name] = value
  }
  const pinned = flag(query, 'pinned')
  // few runs are pinned, so their index helps; nearly all are unpinned, so it does not
  if (pinned !== undefined) tests.pinned = pinned ? true : { in: [false] }
  const noise = flag(query, 'noise')
  if (noise !== undefined) tests.noise = noise || null
  return { ...tests, ...originTest(query, tests.origin !== undefined) }
}

const originTest = (query: RawQuery, hasOrigin: boolean): { readonly origin?: Test<string> } => {
  const playground = flag(query, 'playground')
  if (playground === undefined) return {}
  if (hasOrigin) throw invalid('playground', 'left out where "origin" is given')
  return { origin: playground ? 'playground' : { in: otherOrigins } }
}

const flag = (query: RawQuery, name: 'pinned' | 'playground' | 'noise'): boolean | undefined => {
  const text = oneOf(query, name)
  if (text === undefined) return undefined
  if (text !== 'true' && text !== 'false') throw invalid(name, 'true or false')
  return text === 'true'
}

const listTests = (
  query: RawQuery,
): { status?: Test<string>; failure_tag?: Test<NonNullable<RunRow['failure_tag']>> } => {
  const status = oneOf(query, 'status')
    ?.split(',')
    .map((word) => word.trim())
  const tag = oneOf(query, 'failure_tag')
  return {
    ...(status === undefined ? {} : { status: oneOrSome(status) }),
    ...(tag === undefined ? {} : { failure_tag: tagTest(tag) }),
  }
}

const oneOrSome = <V extends string>(values: readonly V[]): Test<V> => {
  const [first] = values
  return (first !== undefined && values.length === 1 ? first : { in: values }) as Test<V>
}

const tagTest = (text: string): Test<NonNullable<RunRow['failure_tag']>> => {
  if (text === 'any') return { not: null }
  if (text === 'none') return null
  const tags = text.split(',').map((word) => failureTags.find((tag) => tag === word.trim()))
  const known = tags.filter((tag) => tag !== undefined)
  if (known.length !== tags.length) throw invalid('failure_tag', `any, none, or of ${failureTags.join(', ')}`)
  return oneOrSome(known)
}

const rangeTests = (query: RawQuery, now: number) => {
  const since = instant(query, 'since', now)
  const until = instant(query, 'until', now)
  const min = milliseconds(query, 'min_duration_ms')
  const max = milliseconds(query, 'max_duration_ms')
  return {
    ...range('start_ns', since, until),
    ...range('duration_ns', min, max === undefined ? undefined : max + 1n),
    ...range('cost_micro', integer(query, 'min_cost_micro'), undefined),
    ...range('total_tokens', integer(query, 'min_tokens'), undefined),
  }
}

const range = (column: keyof RunRow, gte: bigint | undefined, lt: bigint | undefined) =>
  gte === undefined && lt === undefined
    ? {}
    : { [column]: { ...(gte === undefined ? {} : { gte }), ...(lt === undefined ? {} : { lt }) } }

const integer = (query: RawQuery, name: Name, expected = 'an integer from 0'): bigint | undefined => {
  const text = oneOf(query, name)
  if (text === undefined) return undefined
  if (!/^\d{1,12}$/.test(text)) throw invalid(name, expected)
  return BigInt(text)
}

/** Milliseconds as nanoseconds. */
const milliseconds = (query: RawQuery, name: Name): bigint | undefined => {
  const ms = integer(query, name)
  return ms === undefined ? undefined : ms * NS_PER_MS
}

const instant = (query: RawQuery, name: 'since' | 'until', now: number): bigint | undefined => {
  const text = oneOf(query, name)
  if (text === undefined) return undefined
  if (/^\d{10,19}$/.test(text)) return withinNs(BigInt(text))
  const ms = instantOf(text, now)
  if (ms === undefined)
    throw invalid(name, 'a time like 2026-01-31T12:00:00Z, nanoseconds since 1970, an age like 24h, today or yesterday')
  return withinNs(BigInt(ms) * NS_PER_MS)
}

const orderOf = (query: RawQuery): Order<keyof RunRow & string> => {
  const sort = oneOf(query, 'sort') ?? 'recorded'
  const direction = oneOf(query, 'order') ?? 'desc'
  if (!Object.hasOwn(sortColumns, sort)) throw invalid('sort', `one of ${sorts.join(', ')}`)
  if (direction !== 'asc' && direction !== 'desc') throw invalid('order', 'asc or desc')
  return [sortColumns[sort as keyof typeof sortColumns], direction]
}

/** Runs of a page. Throws INVALID_FILTER. */
export const limitOf = (query: RawQuery): number => {
  const expected = `an integer from 1 to ${MAX_LIMIT}`
  const limit = integer(query, 'limit', expected) ?? 50n
  if (limit < 1n || limit > MAX_LIMIT) throw invalid('limit', expected)
  return Number(limit)
}
