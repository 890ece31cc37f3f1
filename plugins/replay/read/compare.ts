import { mapPaced, Pace } from '#lib/time-slice'
import type { Trace, TreeSpan } from '#lib/trace'
import { type RunSummary, runSummary } from '#lib/trace-file'
import { align, type Tokens } from './compare/align.ts'
import { type FirstDifference, firstDifference } from './compare/first-difference.ts'
import { type ComparedRow, minus, rowOf, type SpanPair } from './compare/row.ts'
import { occurrencesOf } from './occurrences.ts'

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

/** Pairs spans as two sequences, in order of the tree: equal steps, then equal tools and models between them, then equal names. The roots are a pair. */
const pairsBySequence = async (
  left: readonly TreeSpan[],
  right: readonly TreeSpan[],
  pace: Pace,
): Promise<readonly SpanPair[]> => {
  const levels: Tokens[] = []
  for (const titleOf of titles) levels.push(await tokensOf(left, right, titleOf, pace))
  return merged(left, right, await align(levels, pace), pace)
}

const hashOf = ({ attributes }: TreeSpan): string => {
  const hash = attributes['guard.argument_hash'] ?? attributes['guard.fingerprint']
  return typeof hash === 'string' ? hash : ''
}

const ROOT = 'root'

/** What is equal, the strictest first. */
const titles: readonly ((span: TreeSpan) => string)[] = [
  (span) => (span.parent_id === null ? ROOT : `${span.name}\0${span.label ?? ''}\0${hashOf(span)}`),
  (span) => (span.parent_id === null ? ROOT : `${span.name}\0${span.label ?? ''}`),
  (span) => (span.parent_id === null ? ROOT : span.name),
]

const tokensOf = async (
  left: readonly TreeSpan[],
  right: readonly TreeSpan[],
  titleOf: (span: TreeSpan) => string,
  pace: Pace,
): Promise<Tokens> => {
  const numbers = new Map<string, number>()
  const numberOf = (span: TreeSpan): number => {
    const title = titleOf(span)
    const known = numbers.get(title) ?? numbers.size
    numbers.set(title, known)
    return known
  }
  const ofLeft = Int32Array.from(await mapPaced(left, pace, numberOf))
  return { left: ofLeft, right: Int32Array.from(await mapPaced(right, pace, numberOf)) }
}

/** All spans of both sides in order: between two pairs what only the left has, then what only the right has. */
const merged = async (
  left: readonly TreeSpan[],
  right: readonly TreeSpan[],
  pairs: readonly (readonly [number, number])[],
  pace: Pace,
): Promise<readonly SpanPair[]> => {
  const [ofLeft, ofRight] = [occurrencesOf(left), occurrencesOf(right)]
  const rows: SpanPair[] = []
  const numberedLeft = (span: TreeSpan) => ({
    key: `${span.name}#${ofLeft.get(span) ?? 1}`,
    occurrence: ofLeft.get(span) ?? 1,
    left: span,
  })
  const numberedRight = (span: TreeSpan) => ({
    key: `+${span.name}#${ofRight.get(span) ?? 1}`,
    occurrence: ofRight.get(span) ?? 1,
    right: span,
  })
  let [at, there] = [0, 0]
  for (const [one, other] of [...pairs, [left.length, right.length] as const]) {
    for (const span of left.slice(at, one)) rows.push(numberedLeft(span))
    for (const span of right.slice(there, other)) rows.push(numberedRight(span))
    const [first, second] = [left[one], right[other]]
    if (first !== undefined && second !== undefined) rows.push({ ...numberedLeft(first), right: second })
    ;[at, there] = [one + 1, other + 1]
    if (pace.due) await pace.rest()
  }
  return rows
}

/** Pairs the n-th span of a name with the n-th of the other run, in the left tree's order; spans of only the right side follow their predecessor. */
const pairsByOccurrence = async (
  left: readonly TreeSpan[],
  right: readonly TreeSpan[],
  align: 'name' | 'label',
  pace: Pace,
): Promise<readonly SpanPair[]> => {
  const first = await numbered(left, align, pace)
  return joined(first, await numbered(right, align, pace), pace)
}

interface Numbered {
  readonly occurrence: number
  readonly span: TreeSpan
}

/** Spans by key, in tree order; numbered by start, then by tree order. */
const numbered = async (
  spans: readonly TreeSpan[],
  align: 'name' | 'label',
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
    keyed.set(`${title}#${occurrence}`, { occurrence, span })
  })
  return keyed
}

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

const joined = async (
  left: ReadonlyMap<string, Numbered>,
  right: ReadonlyMap<string, Numbered>,
  pace: Pace,
): Promise<readonly SpanPair[]> => {
  const additions = await additionsOf(left, right, pace)
  const pairs = [...(additions.get('') ?? [])]
  for (const [key, { span, occurrence }] of left) {
    pairs.push({ key, occurrence, left: span, right: right.get(key)?.span })
    for (const addition of additions.get(key) ?? []) pairs.push(addition)
    if (pace.due) await pace.rest()
  }
  return pairs
}

/** Spans of only the right side by the key of their predecessor. */
const additionsOf = async (
  left: ReadonlyMap<string, Numbered>,
  right: ReadonlyMap<string, Numbered>,
  pace: Pace,
): Promise<ReadonlyMap<string, readonly SpanPair[]>> => {
  const additions = new Map<string, SpanPair[]>()
  let anchor = ''
  for (const [key, { span, occurrence }] of right) {
    if (left.has(key)) anchor = key
    else addTo(additions, anchor, { key, occurrence, right: span })
    if (pace.due) await pace.rest()
  }
  return additions
}

const addTo = (additions: Map<string, SpanPair[]>, anchor: string, addition: SpanPair): void => {
  const pairs = additions.get(anchor)
  if (pairs === undefined) additions.set(anchor, [addition])
  else pairs.push(addition)
}
