import type { TreeSpan } from '#lib/trace'
import { endOf } from './span-time.ts'

/** A range of time, nanoseconds since 1970. */
export interface TimeRange {
  readonly from_ns: bigint
  readonly to_ns: bigint
}

/** Indexes of the spans that touch a range, with the spans above them, in order of the tree. A running span has no end; a tool call without a seen result is an instant. */
export const indexesInWindow = (spans: readonly TreeSpan[], { from_ns, to_ns }: TimeRange): readonly number[] => {
  const retained: number[] = []
  let needed = -1
  for (let at = spans.length - 1; at >= 0; at--) {
    const span = spans[at] as TreeSpan
    const { depth, start_ns } = span
    const end_ns = endOf(span)
    const touches = start_ns <= to_ns && (end_ns === null || end_ns > from_ns || start_ns >= from_ns)
    if (!touches && depth !== needed) continue
    retained.push(at)
    needed = depth - 1
  }
  return retained.reverse()
}
