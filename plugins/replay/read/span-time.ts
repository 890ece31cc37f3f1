import { OBSERVED, type TraceSpan, UNSEEN } from '#lib/trace'

type Timed = Pick<TraceSpan, 'kind' | 'owner' | 'status' | 'start_ns' | 'end_ns' | 'attributes'>

/** Times in a response are numbers where they are small. */
interface TimedOutline extends Pick<TraceSpan, 'kind' | 'owner' | 'status'> {
  readonly attributes: Readonly<Record<string, unknown>>
  readonly start_ns: bigint | number
  readonly end_ns: bigint | number | null
}

/** A tool call that a reply asked for, and whose result no later request held. */
export const isUnseen = ({ status, end_ns }: Pick<TimedOutline, 'status' | 'end_ns'>): boolean =>
  status === UNSEEN && end_ns === null

/** End of a span; null while it runs. A tool call without a seen result is an instant. */
export const endOf = (span: Pick<TraceSpan, 'status' | 'start_ns' | 'end_ns'>): bigint | null =>
  isUnseen(span) ? span.start_ns : span.end_ns

/** The duration is that until the next request, so the call took so long at most. */
export const isUpperBound = ({ attributes }: Pick<TimedOutline, 'attributes'>): boolean =>
  attributes[OBSERVED] === 'next_request'

/** Nanoseconds; null while running and where the time is unknown. */
export const knownDuration = (span: Timed): bigint | null =>
  span.end_ns === null || isUnseen(span) ? null : span.end_ns - span.start_ns

const failures: ReadonlySet<string> = new Set(['error', 'timeout'])

/** The span has a status of failure. */
export const isFailed = ({ status }: Pick<TraceSpan, 'status'>): boolean => failures.has(status)
