import { mapPaced, type Pace } from 'guard-gateway/lib/time-slice'
import type { TreeSpan } from 'guard-gateway/lib/trace'
import type { SpanPair } from './row.ts'

/** Pairs the n-th span of a name with the n-th of the other run, in the left tree's order; spans of only the right side follow their predecessor. */
export const pairsByOccurrence = async (
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
