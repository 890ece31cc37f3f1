import type { TreeSpan } from '#lib/trace'

/** Number of each span within its name, from 1, by start, then by tree order; equal to those of `compare`. */
export const occurrencesOf = (spans: readonly TreeSpan[]): ReadonlyMap<TreeSpan, number> => {
  const numbered = known.get(spans) ?? number(spans)
  known.set(spans, numbered)
  return numbered
}

/** Cached, because each page of a long run needs all numbers. */
const known = new WeakMap<readonly TreeSpan[], ReadonlyMap<TreeSpan, number>>()

const number = (spans: readonly TreeSpan[]): ReadonlyMap<TreeSpan, number> => {
  const counts = new Map<string, number>()
  const occurrences = new Map<TreeSpan, number>()
  for (const span of spans.toSorted(byStart)) {
    const count = (counts.get(span.name) ?? 0) + 1
    counts.set(span.name, count)
    occurrences.set(span, count)
  }
  return occurrences
}

const byStart = (a: TreeSpan, b: TreeSpan): number => (a.start_ns < b.start_ns ? -1 : a.start_ns > b.start_ns ? 1 : 0)
