import { CHART_PARAMETERS } from '#lib/page'
import type { RawQuery } from '../api/filters.ts'
import { leavesNoise } from '../api/noise.ts'

/** Page parameters that the API does not have. */
const PAGE_ONLY = ['notice', 'back', ...CHART_PARAMETERS]

/** List parameters for the API; a repeated parameter becomes a list. */
export const listQuery = (query: URLSearchParams): RawQuery => {
  const found: Record<string, string | readonly string[]> = Object.create(null)
  for (const name of new Set(query.keys())) {
    // charts alone say "show", which the list does by itself
    const isFilter = name === 'playground' && query.get(name) !== 'show'
    if (name === 'noise' && query.get(name) === 'show') continue
    if (PAGE_ONLY.includes(name) && !isFilter) continue
    const [first = '', ...more] = query.getAll(name)
    found[name] = more.length === 0 ? first : [first, ...more]
  }
  if (leavesNoise(query)) found.noise = 'false'
  return found
}

/** Parameters to set; null removes one. */
export type Changes = Readonly<Record<string, string | null>>

/** A path with a changed query, without empty parameters and notices. */
export const linked = (path: string, query: URLSearchParams, changes: Changes = {}): string => {
  const next = new URLSearchParams()
  for (const [name, value] of query)
    if (name !== 'notice' && value !== '' && !Object.hasOwn(changes, name)) next.append(name, value)
  for (const [name, value] of Object.entries(changes)) if (value !== null && value !== '') next.set(name, value)
  const text = next.toString()
  return text === '' ? path : `${path}?${text}`
}

/** For a link to another list, where the cursors of this one are invalid. */
export const FROM_START: Changes = { cursor: null, back: null }

export const isNewestFirst = (query: URLSearchParams): boolean =>
  (query.get('sort') || 'recorded') === 'recorded' && query.get('order') !== 'asc'
