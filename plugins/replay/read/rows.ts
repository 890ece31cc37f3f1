import type { Trace } from 'guard-gateway/lib/trace'
import { standingDecision } from './decisions.ts'
import { occurrencesOf } from './occurrences.ts'

const PAGE = 2_000

/** Columns of a tree row, in order. */
const rowColumns = [
  'id',
  'depth',
  'name',
  'occurrence',
  'label',
  'kind',
  'status',
  'start_ns',
  'duration_ns',
  'events',
  'decision',
] as const

/** A page of a run's tree, one list of values per span. `next`: first row of the next page; null at the end. */
export interface RowsPage {
  readonly columns: typeof rowColumns
  readonly rows: readonly (readonly unknown[])[]
  readonly next: number | null
}

/** At most `limit` (2,000) rows of a tree from `after` on. Occurrences count by name, in order of start. */
export const rowsOf = ({ spans }: Trace, after = 0, limit = PAGE): RowsPage => {
  const occurrences = occurrencesOf(spans)
  const rows: (readonly unknown[])[] = []
  const end = Math.min(spans.length, after + Math.min(limit, PAGE))
  for (const [index, span] of spans.entries()) {
    if (index === end) break
    if (index < after) continue
    const occurrence = occurrences.get(span) ?? 1
    const { id, depth, name, label, kind, status, start_ns, end_ns, events } = span
    const duration = end_ns === null ? null : end_ns - start_ns
    rows.push([
      id,
      depth,
      name,
      occurrence,
      label,
      kind,
      status,
      start_ns,
      duration,
      events.length,
      standingDecision(events) ?? null,
    ])
  }
  return { columns: rowColumns, rows, next: end < spans.length ? end : null }
}
