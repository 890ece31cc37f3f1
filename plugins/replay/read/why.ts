import type { Match } from 'guard-gateway/core'
import { isJsonObject } from '#lib/json'
import type { Trace, TraceEvent, TreeSpan } from '#lib/trace'
import { callKindOf, countedSpans } from './counted-spans.ts'
import { decisionIn, type EventDecision } from './decisions.ts'
import { errorOf, textIn } from './span-error.ts'
import { isFailed, isUpperBound } from './span-time.ts'

/** The match of a rule as an event tells it; clients may send events, so nothing of it is certain. */
export type ReportedMatch = Partial<
  Pick<Match, 'rule_id' | 'rule_type' | 'message' | 'threshold' | 'window_size' | 'action'>
> & {
  /** Spans of this run whose requests the rule counts, the flagged one left out. */
  readonly equal: readonly TreeSpan[]
}

/** Requests from one on, and all requests of the run. */
export interface After {
  readonly requests: number
  readonly all_requests: number
  readonly tokens: bigint
  readonly cost_micro: bigint
  readonly all_cost_micro: bigint
}

/** Why a run was flagged or blocked, or where it failed. */
export interface Why {
  readonly span: TreeSpan
  /** Absent for a failure without a decision. */
  readonly decision?: EventDecision
  readonly match?: ReportedMatch
  /** What the last decision for the same reason says: a count is highest there. */
  readonly message?: string
  /** Identical blocked attempts that followed. */
  readonly retries: number
  /** What the failed span says. */
  readonly error?: string
  /** The field that speaks for the failure tag of the run. */
  readonly field?: string
  readonly after: After
}

const passing: ReadonlySet<string> = new Set(['allow', 'transform'])

/** Why a run failed or was flagged: the evidence of its failure tag, else its first such decision, else its first failed step. */
export const whyOf = (trace: Trace): Why | undefined => {
  const found = known.get(trace) ?? { why: reasonOf(trace) }
  known.set(trace, found)
  return found.why
}

/** Cached, because each view of a long run shows it. */
const known = new WeakMap<Trace, { readonly why: Why | undefined }>()

const reasonOf = (trace: Trace): Why | undefined => {
  const { failure_evidence: evidence, status } = trace.run
  const named = trace.spans.find(({ id }) => id === evidence?.span_id)
  const span = named ?? trace.spans.find(({ events }) => decidingIn(events) !== undefined) ?? failedIn(trace, status)
  if (span === undefined) return undefined
  const event = span.events.find(({ id }) => id === evidence?.event_id) ?? decidingIn(span.events)
  const decision = event && decisionIn(event)
  const error = errorOf(span)
  const field = span === named ? evidence?.field : undefined
  return {
    span,
    ...(event === undefined || decision === undefined ? {} : { decision, ...reportedIn(trace, span, event, decision) }),
    retries: countIn(event?.attributes.retries),
    ...(error === undefined ? {} : { error }),
    ...(field === undefined ? {} : { field }),
    after: afterOf(trace, span),
  }
}

const isDeciding = (event: TraceEvent): boolean => {
  const found = decisionIn(event)
  return found !== undefined && !passing.has(found.decision)
}

const decidingIn = (events: readonly TraceEvent[]): TraceEvent | undefined => events.find(isDeciding)

/** Tools fail every day, and agents go on: one that only the next request tells of is no reason before the run failed. */
const isReason = (span: TreeSpan): boolean => isFailed(span) && !isUpperBound(span)

/** The first failed step below the root, the innermost of several. */
const failedIn = ({ spans }: Trace, status: string): TreeSpan | undefined => {
  const first = spans.findIndex((span) => span.depth > 0 && isReason(span))
  if (first < 0) return status === 'ok' || status === 'running' ? undefined : spans.find(isFailed)
  let found = spans[first] as TreeSpan
  for (const span of spans.slice(first + 1)) {
    if (span.depth <= found.depth) break
    if (span.depth === found.depth + 1 && isReason(span)) found = span
  }
  return found
}

const countIn = (value: unknown): number =>
  typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : 0

const matchIn = (
  { spans }: Trace,
  span: TreeSpan,
  { attributes }: TraceEvent,
  { rule }: EventDecision,
): ReportedMatch => {
  const all = Array.isArray(attributes.matches) ? attributes.matches.filter(isJsonObject) : []
  const reported = all.find(({ rule_id }) => rule_id === rule) ?? all[0] ?? {}
  const message = textIn(reported.message) ?? textIn(attributes.reason)
  const rule_type = textIn(reported.rule_type) ?? textIn(attributes.rule_type)
  const action = textIn(reported.action) ?? textIn(attributes.action)
  return {
    ...(message === undefined ? {} : { message }),
    ...(rule_type === undefined ? {} : { rule_type }),
    ...(action === undefined ? {} : { action }),
    ...(reported.threshold === undefined ? {} : { threshold: countIn(reported.threshold) }),
    ...(reported.window_size === undefined ? {} : { window_size: countIn(reported.window_size) }),
    equal: requestedBy(spans, requestsIn(reported.where)).filter((other) => other !== span),
  }
}

const reportedIn = (
  trace: Trace,
  span: TreeSpan,
  event: TraceEvent,
  decision: EventDecision,
): Pick<Why, 'match' | 'message'> => {
  const match = matchIn(trace, span, event, decision)
  const last = trace.spans.flatMap(({ events }) => events).findLast((one) => isAlike(one, decision))
  const message = (last && matchIn(trace, span, last, decision).message) ?? match.message
  return { match, ...(message === undefined ? {} : { message }) }
}

const isAlike = (event: TraceEvent, { decision, reason, rule }: EventDecision): boolean => {
  const other = decisionIn(event)
  return other?.decision === decision && other.reason === reason && other.rule === rule
}

const requestsIn = (where: unknown): ReadonlySet<unknown> =>
  new Set(
    Array.isArray(where) ? where.flatMap((place) => (isJsonObject(place) ? (textIn(place.request) ?? []) : [])) : [],
  )

const requestedBy = (spans: readonly TreeSpan[], ids: ReadonlySet<unknown>): readonly TreeSpan[] =>
  ids.size === 0 ? [] : spans.filter(({ attributes }) => ids.has(attributes['guard.request_id']))

const afterOf = ({ spans }: Trace, { start_ns }: TreeSpan): After => {
  const after = { requests: 0, all_requests: 0, tokens: 0n, cost_micro: 0n, all_cost_micro: 0n }
  for (const span of countedSpans(spans)) {
    if (callKindOf(span) !== 'model') continue
    const cost = span.cost_micro ?? 0n
    after.all_requests++
    after.all_cost_micro += cost
    if (span.start_ns < start_ns) continue
    after.requests++
    after.cost_micro += cost
    after.tokens += (span.input_tokens ?? 0n) + (span.output_tokens ?? 0n)
  }
  return after
}
