import { mapPaced, Pace } from 'guard-gateway/lib/time-slice'
import type { Trace } from 'guard-gateway/lib/trace'
import { type RunSummary, runSummary } from 'guard-gateway/lib/trace-file'
import { type FirstDifference, firstDifference } from './compare/first-difference.ts'
import { pairsByOccurrence } from './compare/pairs-by-occurrence.ts'
import { pairsBySequence } from './compare/pairs-by-sequence.ts'
import { type ComparedRow, minus, rowOf } from './compare/row.ts'

export type { ComparedRow, ComparedSpan } from './compare/row.ts'

/** Pairs spans by name and number, by name, label and number, or as two sequences, in which an extra step shifts no other. */
export const alignments = ['name', 'label', 'sequence'] as const
export type Alignment = (typeof alignments)[number]

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
  /** Null if both took the same steps. */
  readonly first_difference: FirstDifference | null
  readonly events_by_name: readonly ComparedEvents[]
  readonly status_changed: boolean
  readonly failure_tag_changed: boolean
  readonly summary: {
    readonly both: number
    readonly left_only: number
    readonly right_only: number
    readonly status_changed: number
    readonly label_changed: number
    readonly arguments_changed: number
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
  const pairs =
    align === 'sequence'
      ? await pairsBySequence(left.spans, right.spans, pace)
      : await pairsByOccurrence(left.spans, right.spans, align, pace)
  const spans = await mapPaced(pairs, pace, rowOf)
  return {
    left: runSummary(left.run),
    right: runSummary(right.run),
    deltas: deltasOf(left, right),
    spans,
    first_difference: firstDifference(spans),
    events_by_name: eventsByName(left, right),
    status_changed: left.run.status !== right.run.status,
    failure_tag_changed: left.run.failure_tag !== right.run.failure_tag,
    summary: await summaryOf(spans, pace),
    warnings: warningsOf(left, right),
  }
}

const counted = { both: 'both', left: 'left_only', right: 'right_only' } as const

const summaryOf = async (rows: readonly ComparedRow[], pace: Pace): Promise<Comparison['summary']> => {
  const summary = { both: 0, left_only: 0, right_only: 0, status_changed: 0, label_changed: 0, arguments_changed: 0 }
  for (const { presence, status_changed, label_changed, arguments_changed } of rows) {
    summary[counted[presence]]++
    if (status_changed) summary.status_changed++
    if (label_changed) summary.label_changed++
    if (arguments_changed) summary.arguments_changed++
    if (pace.due) await pace.rest()
  }
  return summary
}

const deltasOf = ({ run: left }: Trace, { run: right }: Trace): Comparison['deltas'] => ({
  duration_ns: minus(right.duration_ns, left.duration_ns),
  input_tokens: right.input_tokens - left.input_tokens,
  output_tokens: right.output_tokens - left.output_tokens,
  total_tokens: right.total_tokens - left.total_tokens,
  cost_micro: right.cost_micro - left.cost_micro,
  span_count: right.span_count - left.span_count,
  event_count: right.event_count - left.event_count,
})

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
