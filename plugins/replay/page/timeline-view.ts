import type { Trace } from 'guard-gateway/lib/trace'
import { type Folding, foldingOf, runLink, visibleIndexes } from './folding.ts'
import { matchesOf, type SpanSearch, spanSearch } from './search.ts'
import { type Shape, shapeOfTrace } from './shape.ts'
import { type Window, windowOf } from './window.ts'

/** Rows per page, which browsers render within half a second; a script loads all rows. */
export const PAGE_ROWS = 1_000
/** Rows shown until the script has loaded all. */
const FIRST_ROWS = 100

/** View of a timeline by its address. Indexes are those of spans in the tree. */
export interface TimelineView {
  readonly trace: Trace
  readonly shape: Shape
  readonly window: Window
  readonly folding: Folding
  readonly search: SpanSearch
  /** Undefined without a search. */
  readonly matches: ReadonlySet<number> | undefined
  readonly selected: number
  /** Visible spans. */
  readonly visible: readonly number[]
  /** Rows of this page, and the offset of the page. */
  readonly rows: readonly number[]
  readonly after: number
  readonly query: URLSearchParams
  /** Address prefix for a span parameter. */
  readonly base: string
}

/** Parses the view. A span named by the address is visible on any page. `now` in milliseconds. */
export const timelineView = (trace: Trace, query: URLSearchParams, now: number): TimelineView => {
  const shape = shapeOfTrace(trace)
  const search = spanSearch(query)
  const folding = foldingOf(query)
  const matches = matchesOf(trace, shape, search)
  const selected = selectedIn(trace, shape, query, matches)
  const visible = visibleIndexes(trace, shape, folding, selected)
  const page = query.has('all') ? FIRST_ROWS : PAGE_ROWS
  const after = query.has('after') ? offsetIn(query, visible.length) : pageOf(visible.indexOf(selected), page)
  const prefix = runLink(query, { span: null })
  return {
    trace,
    shape,
    window: windowOf(trace, query, now),
    folding,
    search,
    matches,
    selected,
    visible,
    rows: visible.slice(after, after + page),
    after,
    query,
    base: prefix === '?' ? prefix : `${prefix}&`,
  }
}

/** The selected span: the named one, the first match, the failure evidence, the first failed span, or the root. */
const selectedIn = (
  { run, spans }: Trace,
  { places }: Shape,
  query: URLSearchParams,
  matches: ReadonlySet<number> | undefined,
): number => {
  const indexOf = (id: string | null | undefined) => (id === null || id === undefined ? undefined : places.get(id))
  const [match] = matches ?? []
  const found = indexOf(query.get('span')) ?? match ?? indexOf(run.failure_evidence?.span_id)
  return (
    found ??
    Math.max(
      0,
      spans.findIndex(({ status, depth }) => depth > 0 && status === 'error'),
    )
  )
}

const pageOf = (place: number, page: number): number => Math.max(0, place - (place % page))

const offsetIn = (query: URLSearchParams, rows: number): number => {
  const after = Number(query.get('after'))
  return Number.isInteger(after) && after > 0 && after < rows ? after : 0
}
