import type { Trace } from '#lib/trace'
import { type TreeRows, treeRows } from '../read/rows.ts'
import { type Folding, foldingOf, runLink, visibleRows } from './folding.ts'
import { matchesOf, type SpanSearch, spanSearch } from './search.ts'
import { type Shape, shapeOfTrace } from './shape.ts'
import { isFullRange, rangeOf, type Window, windowOf } from './window.ts'

/** A run with more rows is long: it has pages, a script loads all rows, and it is not live. */
export const LONG_ROWS = 1_000
/** Rows per page of a long run, 130 KB. */
const PAGE_ROWS = 300
/** Rows shown until the script has loaded all. */
const FIRST_ROWS = 100

/** View of a timeline by its address. Indexes are those of spans in the tree where nothing else is said. */
export interface TimelineView {
  readonly trace: Trace
  readonly shape: Shape
  readonly window: Window
  readonly folding: Folding
  readonly search: SpanSearch
  /** Undefined without a search. */
  readonly matches: ReadonlySet<number> | undefined
  readonly selected: number
  /** The rows of the window: all spans, or those that touch it and what they are below. */
  readonly tree: TreeRows
  /** Visible rows, as indexes into `tree`. */
  readonly visible: readonly number[]
  /** Those of them that stand for all of their equal siblings. */
  readonly groups: ReadonlySet<number>
  /** Those of this page, and the offset of the page. */
  readonly rows: readonly number[]
  readonly after: number
  /** Rows of a page. */
  readonly page: number
  readonly query: URLSearchParams
  /** Address prefix for a span parameter. */
  readonly base: string
}

/** Parses the view. A span named by the address is visible on any page. `now` in milliseconds. */
export const timelineView = (trace: Trace, query: URLSearchParams, now: number): TimelineView => {
  const shape = shapeOfTrace(trace)
  const search = spanSearch(query)
  const matches = matchesOf(trace, shape, search)
  const folding = foldingOf(query, matches !== undefined)
  const selected = selectedIn(trace, shape, query, matches)
  const window = windowOf(trace, query, now)
  const tree = treeRows(trace.spans, isFullRange(window) ? undefined : rangeOf(window))
  const chosen = rowOfSpan(trace, tree, selected)
  const { places: visible, groups } = visibleRows(tree, folding, chosen)
  const page = tree.spans.length <= LONG_ROWS ? LONG_ROWS : query.has('all') ? FIRST_ROWS : PAGE_ROWS
  const after = query.has('after') ? offsetIn(query, visible.length) : pageOf(visible.indexOf(chosen), page)
  const prefix = runLink(query, { span: null })
  return {
    trace,
    shape,
    window,
    folding,
    search,
    matches,
    selected,
    tree,
    visible,
    groups,
    rows: visible.slice(after, after + page),
    page,
    after,
    query,
    base: prefix === '?' ? prefix : `${prefix}&`,
  }
}

/** The row of a span; -1 if it is outside the window. */
const rowOfSpan = ({ spans }: Trace, tree: TreeRows, at: number): number => {
  const span = spans[at]
  return span === undefined ? -1 : tree.spans === spans ? at : tree.spans.indexOf(span)
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
