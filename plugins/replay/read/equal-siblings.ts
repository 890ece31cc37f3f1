import type { TreeSpan } from '#lib/trace'
import { standingDecision } from './decisions.ts'
import { isUnseen } from './span-time.ts'

/** Fewer equal siblings are shown one by one. */
const LEAST = 3

/** Siblings in a row that are equal with all that is below them. */
export interface EqualGroup {
  readonly count: number
  /** Index after the first of them and what is below it. */
  readonly own_end: number
  /** Index after the last of them and what is below it. */
  readonly end: number
  /** End of the last of them, nanoseconds since 1970. */
  readonly end_ns: bigint
  readonly tokens: bigint
  readonly cost_micro: bigint
}

/** Groups of equal siblings by the index of their first. Spans are in order of the tree; those that run belong to no group. */
export const equalSiblings = (spans: readonly TreeSpan[]): ReadonlyMap<number, EqualGroup> => {
  const ends = subtreeEnds(spans)
  const groups = new Map<number, EqualGroup>()
  const grouped = new Uint8Array(spans.length)
  for (let first = 1; first < spans.length; first++) {
    if (grouped[first] === 1) continue
    const members = [first]
    for (let next = ends[first] ?? 0; isEqual(spans, ends, first, next); next = ends[next] ?? 0) {
      grouped[next] = 1
      members.push(next)
    }
    if (members.length >= LEAST) groups.set(first, groupOf(spans, ends, members))
  }
  return groups
}

/** Index after the last span below each. */
const subtreeEnds = (spans: readonly TreeSpan[]): Uint32Array => {
  const ends = new Uint32Array(spans.length)
  for (let at = spans.length - 1; at >= 0; at--) {
    let end = at + 1
    while (end < spans.length && depthAt(spans, end) > depthAt(spans, at)) end = ends[end] ?? spans.length
    ends[at] = end
  }
  return ends
}

const depthAt = (spans: readonly TreeSpan[], at: number): number => spans[at]?.depth ?? -1

const isEqual = (spans: readonly TreeSpan[], ends: Uint32Array, one: number, other: number): boolean => {
  if (other >= spans.length || depthAt(spans, one) !== depthAt(spans, other)) return false
  const size = (ends[one] ?? 0) - one
  if ((ends[other] ?? 0) - other !== size) return false
  for (let at = 0; at < size; at++) {
    const [left, right] = [spans[one + at] as TreeSpan, spans[other + at] as TreeSpan]
    if (left.depth !== right.depth || !isAlike(left, right)) return false
  }
  return true
}

const isAlike = (one: TreeSpan, other: TreeSpan): boolean =>
  one.name === other.name &&
  one.label === other.label &&
  one.status === other.status &&
  one.kind === other.kind &&
  hasEnded(one) &&
  hasEnded(other) &&
  one.status_message === other.status_message &&
  standingDecision(one.events) === standingDecision(other.events) &&
  saysTheSame(one, other)

const hasEnded = (span: TreeSpan): boolean => span.end_ns !== null || isUnseen(span)

const hashes = ['guard.argument_hash', 'guard.fingerprint'] as const

/** Equal hashes of arguments or requests; without a hash, equal attributes, of which there must be some. */
const saysTheSame = ({ attributes: one }: TreeSpan, { attributes: other }: TreeSpan): boolean => {
  for (const name of hashes) if (one[name] !== undefined || other[name] !== undefined) return one[name] === other[name]
  const names = Object.keys(one).filter((name) => !isVolatile(name))
  return (
    names.length > 0 &&
    names.length === Object.keys(other).filter((name) => !isVolatile(name)).length &&
    names.every((name) => one[name] === other[name])
  )
}

const groupOf = (spans: readonly TreeSpan[], ends: Uint32Array, members: readonly number[]): EqualGroup => {
  const [first = 0] = members
  const last = members.at(-1) ?? first
  let [tokens, cost_micro, end_ns] = [0n, 0n, 0n]
  for (const at of members) {
    const span = spans[at] as TreeSpan
    tokens += (span.input_tokens ?? 0n) + (span.output_tokens ?? 0n)
    cost_micro += span.cost_micro ?? 0n
    const reached = span.end_ns ?? span.start_ns
    if (reached > end_ns) end_ns = reached
  }
  return { count: members.length, own_end: ends[first] ?? 0, end: ends[last] ?? 0, end_ns, tokens, cost_micro }
}

const VOLATILE = [
  /(?:^|[._])(?:id|ids|uuid|timestamp|time|started_at|ended_at|seq|port)$/,
  /^gen_ai\.(?:usage|response)\./,
  /^(?:thread|process)\./,
  /(?:duration|latency|elapsed|time_to_first)/,
  /^guard\.(?:usage\.|cost_micro|cost_told_micro|cost_source|price_version|usage_source|preview)/,
]

/** The attribute differs from call to call by nature: ids, times, usage. */
export const isVolatile = (name: string): boolean => VOLATILE.some((pattern) => pattern.test(name))
