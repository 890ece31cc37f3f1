import { mapPaced, Pace } from 'guard-gateway/lib/time-slice'
import type { Trace, TreeSpan } from 'guard-gateway/lib/trace'
import { type RunSummary, runSummary } from 'guard-gateway/lib/trace-file'

/** Pairs spans by name, or by name and label if a shift by one call would pair different tools. */
export type Alignment = 'name' | 'label'

/** One side of a row; nanoseconds. */
export interface ComparedSpan {
  readonly span_id: string
  readonly status: string
  /** Null while running. */
  readonly duration_ns: bigint | null
  readonly label: string | null
}

export interface ComparedRow {
  /** `name#occurrence`, or `name[label]#occurrence`. */
  readonly key: string
  readonly name: string
  /** From 1, in order of start within the name. */
  readonly occurrence: number
  readonly presence: 'both' | 'left' | 'right'
  readonly left: ComparedSpan | null
  readonly right: ComparedSpan | null
  readonly status_changed: boolean
  readonly label_changed: boolean
  /** Right minus left; null if a side is missing or running. */
  readonly duration_delta_ns: bigint | null
}

export interface ComparedEvents {
  readonly name: string
  readonly left: number
  readonly right: number
  readonly delta: number
}

/** Comparison of two runs; every delta is right minus left. */
export interface Comparison {
  readonly left: RunSummary
  readonly right: RunSummary
  readonly deltas: {
    readonly duration_ns: bigint | null
    readonly input_tokens: bigint
    readonly output_tokens: bigint
    readonly total_tokens: bigint
    readonly cost_micro: bigint
    readonly span_count: number
    readonly event_count: number
  }
  readonly spans: readonly ComparedRow[]
  readonly events_by_name: readonly ComparedEvents[]
  readonly status_changed: boolean
  readonly failure_tag_changed: boolean
  readonly summary: {
    readonly both: number
    readonly left_only: number
    readonly right_only: number
    readonly status_changed: number
    readonly label_changed: number
  }
  readonly warnings: readonly { readonly code: 'different_projects'; readonly message: string }[]
}

/** Compares two runs by spans and totals, and yields to other work. It does not judge whether both did the same task. */
export const compare = async (
  left: Trace,
  right: Trace,
  align: Alignment = 'name',
  pace = new Pace(),
): Promise<Comparison> => {
  const first = await numbered(left.spans, align, pace)
  const spans = await joined(first, await numbered(right.spans, align, pace), pace)
  return {
    left: runSummary(left.run),
    right: runSummary(right.run),
    deltas: deltasOf(left, right),
    spans,
    events_by_name: eventsByName(left, right),
    status_changed: left.run.status !== right.run.status,
    failure_tag_changed: left.run.failure_tag !== right.run.failure_tag,
    summary: await summaryOf(spans, pace),
    warnings: warningsOf(left, right),
  }
}

const counted = { both: 'both', left: 'left_only', right: 'right_only' } as const

const summaryOf = async (rows: readonly ComparedRow[], pace: Pace): Promise<Comparison['summary']> => {
  const summary = { both: 0, left_only: 0, right_only: 0, status_changed: 0, label_changed: 0 }
  for (const { presence, status_changed, label_changed } of rows) {
    summary[counted[presence]]++
    if (status_changed) summary.status_changed++
    if (label_changed) summary.label_changed++
    if (pace.due) await pace.rest()
  }
  return summary
}

const minus = (right: bigint | null, left: bigint | null): bigint | null =>
  right === null || left === null ? null : right - left

const deltasOf = ({ run: left }: Trace, { run: right }: Trace): Comparison['deltas'] => ({
  duration_ns: minus(right.duration_ns, left.duration_ns),
  input_tokens: right.input_tokens - left.input_tokens,
  output_tokens: right.output_tokens - left.output_tokens,
  total_tokens: right.total_tokens - left.total_tokens,
  cost_micro: right.cost_micro - left.cost_micro,
  span_count: right.span_count - left.span_count,
  event_count: right.event_count - left.event_count,
})

interface Numbered {
  readonly name: string
  readonly occurrence: number
  readonly span: ComparedSpan
}

/** Spans by key, in tree order; numbered by start, then by tree order. */
const numbered = async (
  spans: readonly TreeSpan[],
  align: Alignment,
  pace: Pace,
): Promise<ReadonlyMap<string, Numbered>> => {
  const titled = await mapPaced(spans, pace, (span) => ({
    span,
    title: align === 'label' && span.label !== null ? `${span.name}[${span.label}]` : span.name,
    occurrence: 0,
  }))
  const counts = new Map<string, number>()
  // most spans are already in order of start, so this sort is fast
  const started = titled.toSorted((a, b) => order(a.span.start_ns, b.span.start_ns))
  await mapPaced(started, pace, (one) => {
    one.occurrence = (counts.get(one.title) ?? 0) + 1
    counts.set(one.title, one.occurrence)
  })
  const keyed = new Map<string, Numbered>()
  await mapPaced(titled, pace, ({ span, title, occurrence }) => {
    keyed.set(`${title}#${occurrence}`, { name: span.name, occurrence, span: sideOf(span) })
  })
  return keyed
}

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

const sideOf = ({ id, status, start_ns, end_ns, label }: TreeSpan): ComparedSpan => ({
  span_id: id,
  status,
  duration_ns: minus(end_ns, start_ns),
  label,
})

/** Rows in the left tree's order; spans of only the right side follow their predecessor. */
const joined = async (
  left: ReadonlyMap<string, Numbered>,
  right: ReadonlyMap<string, Numbered>,
  pace: Pace,
): Promise<ComparedRow[]> => {
  const additions = new Map<string, ComparedRow[]>()
  let anchor = ''
  for (const [key, only] of right) {
    if (left.has(key)) anchor = key
    else addTo(additions, anchor, row(key, undefined, only))
    if (pace.due) await pace.rest()
  }
  const rows = [...(additions.get('') ?? [])]
  for (const [key, one] of left) {
    rows.push(row(key, one, right.get(key)))
    for (const addition of additions.get(key) ?? []) rows.push(addition)
    if (pace.due) await pace.rest()
  }
  return rows
}

const addTo = (additions: Map<string, ComparedRow[]>, anchor: string, addition: ComparedRow): void => {
  const rows = additions.get(anchor)
  if (rows === undefined) additions.set(anchor, [addition])
  else rows.push(addition)
}

const row = (key: string, left: Numbered | undefined, right: Numbered | undefined): ComparedRow => {
  const { name, occurrence } = left ?? right ?? { name: '', occurrence: 0 }
  const both = left !== undefined && right !== undefined
  return {
    key,
    name,
    occurrence,
    presence: both ? 'both' : left === undefined ? 'right' : 'left',
    left: left?.span ?? null,
    right: right?.span ?? null,
    status_changed: both && left.span.status !== right.span.status,
    label_changed: both && left.span.label !== right.span.label,
    duration_delta_ns: both ? minus(right.span.duration_ns, left.span.duration_ns) : null,
  }
}

const eventCounts = ({ spans, events }: Trace): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  for (const span of spans) for (const { name } of span.events) count(name)
  for (const { name } of events) count(name)
  return counts
}

const eventsByName = (left: Trace, right: Trace): ComparedEvents[] => {
  const before = eventCounts(left)
  const after = eventCounts(right)
  return [...new Set([...before.keys(), ...after.keys()])].sort().map((name) => {
    const [one, other] = [before.get(name) ?? 0, after.get(name) ?? 0]
    return { name, left: one, right: other, delta: other - one }
  })
}

const warningsOf = ({ run: left }: Trace, { run: right }: Trace): Comparison['warnings'] =>
  left.project_id === right.project_id
    ? []
    : [
        {
          code: 'different_projects',
          message: `The runs belong to two projects, ${left.project_id} and ${right.project_id}.`,
        },
      ]
