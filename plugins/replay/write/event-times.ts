import type { FragmentEvent, FragmentRun } from 'guard-gateway/core'
import type { SpanRow } from '../tables.ts'
import type { RunSpans } from './run-spans.ts'

type Instant = bigint | null | undefined

/**
 * Returns when the span of an event ended, or the run of an event without a span: nanoseconds since 1970, undefined if it is running or
 * unknown. `earlier`: spans from earlier in the same file.
 */
export const endsIn = (run: FragmentRun, spans: readonly SpanRow[], earlier?: Pick<RunSpans, 'get'>) => {
  const ends = new Map<string, Instant>(spans.map(({ id, end_ns }) => [id, end_ns]))
  const last = [...ends.values()].reduce(later, endOf(run))
  const endOfSpan = (id: string): Instant => (ends.has(id) ? ends.get(id) : earlier?.get(id)?.end_ns)
  return ({ span_id }: FragmentEvent): bigint | undefined => (span_id === null ? last : endOfSpan(span_id)) ?? undefined
}

const endOf = ({ status, start_ns, end_ns = start_ns }: FragmentRun): Instant => (status === 'running' ? null : end_ns)

const later = (a: Instant, b: Instant): Instant => {
  if (a === null || b === null) return null
  return a === undefined || (b !== undefined && b > a) ? b : a
}
