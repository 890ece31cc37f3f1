import { GuardError } from 'guard-gateway/core'
import { rejectUnknown } from '#lib/errors'
import { type Buckets, bucketsOf, instantOf, type Step, steps } from '#lib/time'
import { filterNames, oneOf, type RawQuery } from '../api/filters.ts'

/** What is counted: runs, or the calls in them. */
export const subjects = ['runs', 'calls', 'models', 'tools', 'commands'] as const
export type Subject = (typeof subjects)[number]

const runGroups = ['agent', 'project', 'session', 'task', 'status', 'failure_tag', 'origin', 'name'] as const
/** `name` of a call is its model, tool or command. */
export const groups = ['none', ...runGroups, 'kind'] as const
type GroupName = (typeof groups)[number]

/** By what the counted are told apart. */
export type Group = { readonly by: GroupName } | { readonly by: 'attribute'; readonly attribute: string }

export interface StatsQuery {
  readonly of: Subject
  readonly group: Group
  readonly step: Step
  readonly buckets: Buckets
  /** Milliseconds since 1970; `until` itself is not included. */
  readonly since: number
  readonly until: number
  /** Filters of the list of runs. */
  readonly filters: RawQuery
}

/** Parameters of lists that have no meaning for sums. */
const OF_LISTS: readonly string[] = ['sort', 'order', 'limit', 'cursor', 'since', 'until']

/** Filters that runs can be chosen by. */
export const statsFilters = filterNames.filter((name) => !OF_LISTS.includes(name))
const OWN = ['of', 'group', 'step', 'since', 'until', 'time_zone'] as const
const known: readonly string[] = [...OWN, ...statsFilters]

const DAY_MS = 24 * 60 * 60 * 1_000
const ATTRIBUTE = 'attribute:'

/** Parameters of a request. Throws UNKNOWN_FILTER, INVALID_FILTER, INVALID_REQUEST and TOO_MANY_BUCKETS. */
export const statsQuery = (query: RawQuery, now: number): StatsQuery => {
  rejectUnknown(query, known)
  const of = oneIn(query, 'of', subjects, 'runs')
  const step = oneIn(query, 'step', steps, 'day')
  const since = instantIn(query, 'since', now) ?? now - DAY_MS
  const until = instantIn(query, 'until', now) ?? now + 1
  const buckets = bucketsOf({ since, until, step, time_zone: textIn(query, 'time_zone') })
  const filters = Object.fromEntries(Object.entries(query).filter(([name]) => !OWN.some((own) => own === name)))
  return { of, group: groupIn(query, of), step, buckets, since, until, filters }
}

type Own = (typeof OWN)[number]

const invalid = (name: Own, expected: string): GuardError =>
  new GuardError('INVALID_FILTER', `"${name}" must be ${expected}.`, { path: `/${name}` })

const textIn = (query: RawQuery, name: Own): string | undefined => oneOf(query, name as Parameters<typeof oneOf>[1])

const oneIn = <const N extends string>(query: RawQuery, name: Own, names: readonly N[], otherwise: N): N => {
  const text = textIn(query, name) ?? otherwise
  const found = names.find((one) => one === text)
  if (found === undefined) throw invalid(name, `one of ${names.join(', ')}`)
  return found
}

const groupIn = (query: RawQuery, of: Subject): Group => {
  const text = textIn(query, 'group') ?? 'none'
  const attribute = text.startsWith(ATTRIBUTE) ? text.slice(ATTRIBUTE.length).trim() : ''
  if (attribute !== '') return { by: 'attribute', attribute }
  const by = groups.find((one) => one === text)
  if (by === undefined) throw invalid('group', `one of ${groups.join(', ')}, or attribute: and its name`)
  if (by === 'kind' && of === 'runs') throw invalid('group', 'another than kind, which runs have none of')
  return { by }
}

const instantIn = (query: RawQuery, name: 'since' | 'until', now: number): number | undefined => {
  const text = oneOf(query, name)
  if (text === undefined) return undefined
  const at = instantOf(text, now)
  if (at === undefined) throw invalid(name, 'a time like 2026-01-31T12:00:00Z, an age like 24h, today or yesterday')
  return at
}
