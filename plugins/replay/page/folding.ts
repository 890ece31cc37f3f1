import type { TreeSpan } from '#lib/trace'
import type { EqualGroup } from '../read/equal-siblings.ts'
import type { TreeRows } from '../read/rows.ts'
import { type Changes, linked } from './links.ts'

/** Limit of exceptions in an address. */
const MAX_EXCEPTIONS = 100

/** Closed rows: the ids in `closed`, or with `open` all rows below the root except those ids. */
export interface Folding {
  /** Rows are closed by default. */
  readonly folded: boolean
  readonly exceptions: ReadonlySet<string>
  /** Groups of equal siblings that are shown one by one, by their first span. */
  readonly unfolded: ReadonlySet<string>
  /** Groups are folded; a search shows every match instead. */
  readonly groups: boolean
}

export const foldingOf = (query: URLSearchParams, isSearching: boolean): Folding => {
  const folded = query.has('open')
  return {
    folded,
    exceptions: idsIn(query, folded ? 'open' : 'closed'),
    unfolded: idsIn(query, 'unfolded'),
    groups: !isSearching,
  }
}

const idsIn = (query: URLSearchParams, name: string): ReadonlySet<string> => {
  const ids = (query.get(name) ?? '').split(',').filter((id) => id !== '')
  return new Set(ids.slice(0, MAX_EXCEPTIONS))
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
  const next = turned(exceptions, id)
  return folded
    ? { open: next.length === 0 ? NONE_NAMED : next.join(','), after: null }
    : { closed: next.join(','), after: null }
}

/** Parameters that fold or unfold the group that begins with a span. */
export const groupToggled = ({ unfolded }: Folding, { id }: TreeSpan): Changes => ({
  unfolded: turned(unfolded, id).join(','),
  after: null,
})

const turned = (ids: ReadonlySet<string>, id: string): readonly string[] =>
  ids.has(id) ? [...ids].filter((one) => one !== id) : [...ids, id]

/** Visible rows by index, and those of them that stand for a folded group. */
export interface VisibleRows {
  readonly places: readonly number[]
  readonly groups: ReadonlySet<number>
}

/** The visible rows; the row `selected` is always among them. */
export const visibleRows = ({ spans, groups }: TreeRows, folding: Folding, selected: number): VisibleRows => {
  const path = pathTo(spans, selected)
  const places: number[] = []
  /** Where to go on after the first of a folded group, by the row after it. */
  const jumps = new Map<number, number>()
  const folded = new Set<number>()
  let hidden = Number.POSITIVE_INFINITY
  for (let at = 0; at < spans.length; at = landed(jumps, at + 1)) {
    const span = spans[at] as TreeSpan
    if (span.depth > hidden) continue
    hidden = isClosed(folding, span) && !path.has(at) ? span.depth : Number.POSITIVE_INFINITY
    places.push(at)
    const group = groups.get(at)
    if (group === undefined || !isFoldedGroup(folding, span, group, selected)) continue
    jumps.set(group.own_end, group.end)
    folded.add(at)
  }
  return { places, groups: folded }
}

/** The row after all jumps from one. */
const landed = (jumps: ReadonlyMap<number, number>, at: number): number => {
  let row = at
  for (let next = jumps.get(row); next !== undefined; next = jumps.get(row)) row = next
  return row
}

/** The siblings after the first one are hidden. */
const isFoldedGroup = (
  { groups, unfolded }: Folding,
  { id }: TreeSpan,
  { own_end, end }: EqualGroup,
  selected: number,
): boolean => groups && !unfolded.has(id) && (selected < own_end || selected >= end)

/** Indexes of the rows above one. */
const pathTo = (spans: readonly TreeSpan[], selected: number): ReadonlySet<number> => {
  const path = new Set<number>()
  let depth = spans[selected]?.depth ?? 0
  for (let at = selected - 1; at >= 0 && depth > 0; at--) {
    const above = spans[at]?.depth ?? 0
    if (above >= depth) continue
    path.add(at)
    depth = above
  }
  return path
}

/** A link on the page of a run that retains the other parameters. */
export const runLink = (query: URLSearchParams, changes: Changes, fragment = ''): string => {
  const link = linked('', query, { notice: null, part: null, ...changes })
  return `${link === '' ? '?' : link}${fragment === '' ? '' : `#${encodeURIComponent(fragment)}`}`
}
