import type { Trace } from 'guard-gateway/core'
import { type Folding, foldingOf, runLink, seenPlaces } from './folding.ts'
import { matchesOf, type SpanSearch, spanSearch } from './search.ts'
import { type Shape, shapeOfTrace } from './shape.ts'
import { type Window, windowOf } from './window.ts'

/** Rows on one page of a timeline: a browser shows them within half a second, and script brings all that there are. */
export const PAGE_ROWS = 1_000
/** Rows that stand there until script has brought all. */
const FIRST_ROWS = 100

/** A timeline as an address asks for it. Places are those of spans in the tree. */
export interface TimelineView {
  readonly trace: Trace
  readonly shape: Shape
  readonly window: Window
  readonly folding: Folding
  readonly search: SpanSearch
  /** Undefined: nothing is looked for. */
  readonly matches: ReadonlySet<number> | undefined
  readonly selected: number
  /** Spans that are not hidden below closed ones. */
  readonly seen: readonly number[]
  /** Those of them on this page, and where it begins. */
  readonly rows: readonly number[]
  readonly after: number
  readonly query: URLSearchParams
  /** The address without a span, to be continued with one. */
  readonly base: string
}

/** What the address asks to see of a run; a span that it names is shown wherever it lies. `now` in milliseconds. */
export const timelineView = (trace: Trace, query: URLSearchParams, now: number): TimelineView => {
  const shape = shapeOfTrace(trace)
  const search = spanSearch(query)
  const folding = foldingOf(query)
  const matches = matchesOf(trace, shape, search)
  const selected = selectedIn(trace, shape, query, matches)
  const seen = seenPlaces(trace, shape, folding, selected)
  const page = query.has('all') ? FIRST_ROWS : PAGE_ROWS
  const after = query.has('after') ? placeAsked(query, seen.length) : pageOf(seen.indexOf(selected), page)
  const bare = runLink(query, { span: null })
  return {
    trace,
    shape,
    window: windowOf(trace, query, now),
    folding,
    search,
    matches,
    selected,
    seen,
    rows: seen.slice(after, after + page),
    after,
    query,
    base: bare === '?' ? bare : `${bare}&`,
  }
}

/** The span that is named, else the first that was looked for, else the one that shows why the run failed, else the first that did, else the root. */
const selectedIn = (
  { run, spans }: Trace,
  { places }: Shape,
  query: URLSearchParams,
  matches: ReadonlySet<number> | undefined,
): number => {
  const placeOf = (id: string | null | undefined) => (id === null || id === undefined ? undefined : places.get(id))
  const [match] = matches ?? []
  const found = placeOf(query.get('span')) ?? match ?? placeOf(run.failure_evidence?.span_id)
  return (
    found ??
    Math.max(
      0,
      spans.findIndex(({ status, depth }) => depth > 0 && status === 'error'),
    )
  )
}

const pageOf = (place: number, page: number): number => Math.max(0, place - (place % page))

const placeAsked = (query: URLSearchParams, rows: number): number => {
  const after = Number(query.get('after'))
  return Number.isInteger(after) && after > 0 && after < rows ? after : 0
}
