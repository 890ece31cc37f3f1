import type { Trace, TreeSpan } from '#lib/trace'
import { standingDecision } from './decisions.ts'
import { type EqualGroup, equalSiblings } from './equal-siblings.ts'
import { indexesInWindow, type TimeRange } from './in-window.ts'
import { cachedTokensOf } from './model-tokens.ts'
import { occurrencesOf } from './occurrences.ts'
import { errorOf } from './span-error.ts'
import { isUnseen, isUpperBound } from './span-time.ts'

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
  'tokens',
  'cost_micro',
  'time_known',
  'equal',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'error',
  'also_seen',
  'at_most',
] as const

/** A page of a run's tree, one list of values per span. `next`: first row of the next page; null at the end. */
export interface RowsPage {
  readonly columns: typeof rowColumns
  readonly rows: readonly (readonly unknown[])[]
  readonly next: number | null
}

/** The rows of a run, or those of a range of its time with the spans above them. */
export interface TreeRows {
  readonly spans: readonly TreeSpan[]
  /** Groups of equal siblings by the row of their first. */
  readonly groups: ReadonlyMap<number, EqualGroup>
}

const known = new WeakMap<readonly TreeSpan[], TreeRows>()

/** Computed once for a whole run. */
export const treeRows = (all: readonly TreeSpan[], range?: TimeRange): TreeRows => {
  if (range !== undefined) {
    const spans = indexesInWindow(all, range).map((at) => all[at] as TreeSpan)
    return { spans, groups: equalSiblings(spans) }
  }
  const rows = known.get(all) ?? { spans: all, groups: equalSiblings(all) }
  known.set(all, rows)
  return rows
}

/** Tokens and cost of a row: those of its span, at the root those of the run; null for a span without. */
export const sumsOfRow = (
  { run }: Pick<Trace, 'run'>,
  { parent_id, input_tokens, output_tokens, cost_micro }: TreeSpan,
): { readonly tokens: bigint | null; readonly cost_micro: bigint | null } => {
  if (parent_id === null) return { tokens: run.total_tokens, cost_micro: run.cost_micro }
  const isCounted = input_tokens !== null || output_tokens !== null
  return { tokens: isCounted ? (input_tokens ?? 0n) + (output_tokens ?? 0n) : null, cost_micro }
}

/** At most `limit` (2,000) rows of a tree from `after` on. Occurrences count by name, in order of start. */
export const rowsOf = (trace: Trace, after = 0, limit = PAGE, range?: TimeRange): RowsPage => {
  const occurrences = occurrencesOf(trace.spans)
  const { spans, groups } = treeRows(trace.spans, range)
  const end = Math.min(spans.length, after + Math.min(limit, PAGE))
  const rows = spans.slice(after, end).map((span, index) => {
    const { id, depth, name, label, kind, status, start_ns, end_ns, events } = span
    const { tokens, cost_micro } = sumsOfRow(trace, span)
    return [
      id,
      depth,
      name,
      occurrences.get(span) ?? 1,
      label,
      kind,
      status,
      start_ns,
      end_ns === null ? null : end_ns - start_ns,
      events.length,
      standingDecision(events) ?? null,
      tokens,
      cost_micro,
      !isUnseen(span),
      equalIn(groups, after + index),
      span.input_tokens,
      cachedTokensOf(span),
      span.output_tokens,
      errorOf(span) ?? null,
      span.also_seen?.map(({ owner }) => owner) ?? null,
      isUpperBound(span),
    ]
  })
  return { columns: rowColumns, rows, next: end < spans.length ? end : null }
}

/** A group as counts from its first row: siblings, rows of the first, rows of all, then its end, tokens and cost. */
const equalIn = (groups: ReadonlyMap<number, EqualGroup>, at: number): readonly unknown[] | null => {
  const group = groups.get(at)
  if (group === undefined) return null
  const { count, own_end, end, end_ns, tokens, cost_micro } = group
  return [count, own_end - at, end - at, end_ns, tokens, cost_micro]
}
