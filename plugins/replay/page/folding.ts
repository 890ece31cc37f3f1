import type { Trace, TreeSpan } from 'guard-gateway/lib/trace'
import { type Changes, linked } from './links.ts'
import type { Shape } from './shape.ts'

/** Limit of exceptions in an address. */
const MAX_EXCEPTIONS = 100

/** Closed rows: the ids in `closed`, or with `open` all rows below the root except those ids. */
export interface Folding {
  /** Rows are closed by default. */
  readonly folded: boolean
  readonly exceptions: ReadonlySet<string>
}

export const foldingOf = (query: URLSearchParams): Folding => {
  const folded = query.has('open')
  const ids = (query.get(folded ? 'open' : 'closed') ?? '').split(',').filter((id) => id !== '')
  return { folded, exceptions: new Set(ids.slice(0, MAX_EXCEPTIONS)) }
}

const NONE_NAMED = '-'

/** Parameters that close every row below the root, and that open every row. */
export const closeAll: Changes = { open: NONE_NAMED, closed: null, after: null }
export const openAll: Changes = { open: null, closed: null, after: null }

/** Whether the children of a span are hidden. */
export const isClosed = ({ folded, exceptions }: Folding, span: TreeSpan): boolean =>
  folded ? span.depth > 0 && !exceptions.has(span.id) : exceptions.has(span.id)

/** Parameters that toggle a span. */
export const toggled = ({ folded, exceptions }: Folding, { id }: TreeSpan): Changes => {
  const next = exceptions.has(id) ? [...exceptions].filter((one) => one !== id) : [...exceptions, id]
  return folded
    ? { open: next.length === 0 ? NONE_NAMED : next.join(','), after: null }
    : { closed: next.join(','), after: null }
}

/** Indexes of the visible spans; `shown` is always visible. */
export const visibleIndexes = ({ spans }: Trace, shape: Shape, folding: Folding, shown: number): readonly number[] => {
  const path = new Set<number>()
  for (let at = shape.parents[shown] ?? -1; at >= 0; at = shape.parents[at] ?? -1) path.add(at)
  const places: number[] = []
  let hidden = Number.POSITIVE_INFINITY
  for (const [at, span] of spans.entries()) {
    if (span.depth > hidden) continue
    hidden = isClosed(folding, span) && !path.has(at) ? span.depth : Number.POSITIVE_INFINITY
    places.push(at)
  }
  return places
}

/** A link on the page of a run that retains the other parameters. */
export const runLink = (query: URLSearchParams, changes: Changes, fragment = ''): string => {
  const link = linked('', query, { notice: null, part: null, ...changes })
  return `${link === '' ? '?' : link}${fragment === '' ? '' : `#${encodeURIComponent(fragment)}`}`
}
