import { mapPaced, type Pace } from 'guard-gateway/lib/time-slice'
import type { TreeSpan } from 'guard-gateway/lib/trace'
import { occurrencesOf } from '../occurrences.ts'
import { align, type Tokens } from './align.ts'
import type { SpanPair } from './row.ts'

/** Pairs spans as two sequences, in order of the tree: equal steps, then equal tools and models between them, then equal names. The roots are a pair. */
export const pairsBySequence = async (
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
