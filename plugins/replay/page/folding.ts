import type { Trace, TreeSpan } from 'guard-gateway/core'
import { type Changes, linked } from './links.ts'
import type { Shape } from './shape.ts'

/** More exceptions than this an address does not carry. */
const MAX_NAMED = 100

/** Which rows are closed: those named in `closed`, or with `open` there all below the root but those named. */
export interface Folding {
  /** Closed unless named. */
  readonly folded: boolean
  readonly named: ReadonlySet<string>
}

export const foldingOf = (query: URLSearchParams): Folding => {
  const folded = query.has('open')
  const ids = (query.get(folded ? 'open' : 'closed') ?? '').split(',').filter((id) => id !== '')
  return { folded, named: new Set(ids.slice(0, MAX_NAMED)) }
}

const NONE_NAMED = '-'

/** Parameters that close every row below the root, and that open every row. */
export const closeAll: Changes = { open: NONE_NAMED, closed: null, after: null }
export const openAll: Changes = { open: null, closed: null, after: null }

/** Whether what lies below this span is hidden. */
export const isClosed = ({ folded, named }: Folding, span: TreeSpan): boolean =>
  folded ? span.depth > 0 && !named.has(span.id) : named.has(span.id)

/** The parameters that open this span if it is closed, and close it otherwise. */
export const toggled = ({ folded, named }: Folding, { id }: TreeSpan): Changes => {
  const next = named.has(id) ? [...named].filter((one) => one !== id) : [...named, id]
  return folded
    ? { open: next.length === 0 ? NONE_NAMED : next.join(','), after: null }
    : { closed: next.join(','), after: null }
}

/** Places of the spans that are seen; `shown` is never hidden. */
export const seenPlaces = ({ spans }: Trace, shape: Shape, folding: Folding, shown: number): readonly number[] => {
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

/** A link on the page of a run that keeps what is shown of it. */
export const runLink = (query: URLSearchParams, changes: Changes, fragment = ''): string => {
  const link = linked('', query, { notice: null, part: null, ...changes })
  return `${link === '' ? '?' : link}${fragment === '' ? '' : `#${encodeURIComponent(fragment)}`}`
}
