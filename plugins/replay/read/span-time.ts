import type { TraceSpan } from 'guard-gateway/lib/trace'

type Timed = Pick<TraceSpan, 'kind' | 'owner' | 'start_ns' | 'end_ns'>

/** Times in a response are numbers where they are small. */
interface TimedOutline extends Pick<TraceSpan, 'kind' | 'owner'> {
  readonly start_ns: bigint | number
  readonly end_ns: bigint | number | null
}

/** False for a tool call that the gateway knows only from the reply that asked for it: it sees neither its start nor its end. */
export const isTimeKnown = ({ kind, owner, start_ns, end_ns }: TimedOutline): boolean =>
  kind !== 'tool' || owner !== 'gateway' || start_ns !== end_ns

/** Nanoseconds; null while running and where the time is unknown. */
export const knownDuration = (span: Timed): bigint | null =>
  span.end_ns === null || !isTimeKnown(span) ? null : span.end_ns - span.start_ns

const failures: ReadonlySet<string> = new Set(['error', 'timeout'])

/** The span has a status of failure. */
export const isFailed = ({ status }: Pick<TraceSpan, 'status'>): boolean => failures.has(status)
