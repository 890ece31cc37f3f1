import type { RawQuery } from '../api/filters.ts'

/** Parameters that a list page has beside those of the interface. */
const PAGE_ONLY = ['notice', 'back']

/** The parameters of a list as the interface takes them; one that stands several times is a list. */
export const listQuery = (query: URLSearchParams): RawQuery => {
  const found: Record<string, string | readonly string[]> = Object.create(null)
  for (const name of new Set(query.keys())) {
    if (PAGE_ONLY.includes(name)) continue
    const [first = '', ...more] = query.getAll(name)
    found[name] = more.length === 0 ? first : [first, ...more]
  }
  return found
}

/** Parameters that a link sets; null takes one away. */
export type Changes = Readonly<Record<string, string | null>>

/** A path with this query changed; parameters without a value are left out, and so is a notice. */
export const linked = (path: string, query: URLSearchParams, changes: Changes = {}): string => {
  const next = new URLSearchParams()
  for (const [name, value] of query)
    if (name !== 'notice' && value !== '' && !Object.hasOwn(changes, name)) next.append(name, value)
  for (const [name, value] of Object.entries(changes)) if (value !== null && value !== '') next.set(name, value)
  const text = next.toString()
  return text === '' ? path : `${path}?${text}`
}

/** For a link to another list: the pages of this one are none of that one. */
export const FROM_START: Changes = { cursor: null, back: null }

/** Whether newer runs stand before older ones. */
export const isNewestFirst = (query: URLSearchParams): boolean =>
  (query.get('sort') || 'recorded') === 'recorded' && query.get('order') !== 'asc'
