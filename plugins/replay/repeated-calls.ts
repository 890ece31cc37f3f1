import type { TraceSpan } from '#lib/trace'

/** How many spans one id of a reply can have; an id that more have identifies no reply. */
export const MAX_OF_REPLY = 8

/** The id of a reply and the instrumentation that tells of it. */
export interface Reply {
  readonly id: string
  readonly scope: string
}

/** What shows whether two model spans tell of one call. */
export interface ReportedCall {
  /** Id of the span. */
  readonly id: string
  readonly reply: Reply
  readonly start_ns: bigint
  readonly end_ns: bigint | null
  readonly input: bigint
  readonly output: bigint
}

/** The reply of a model span that an instrumentation has sent; undefined if it tells no id. */
export const replyOf = ({ kind, owner, attributes }: TraceSpan): Reply | undefined => {
  const id = attributes['gen_ai.response.id']
  const scope = attributes['otel.scope.name']
  return kind === 'model' && owner === 'client' && typeof id === 'string' && id !== '' && typeof scope === 'string'
    ? { id, scope }
    : undefined
}

/** Where spans stand in the tree of their run. */
export interface Places<C> {
  /** One is below the other, or it is not known. */
  isNested(one: C, other: C): boolean
  /** A call below the span counts in its place. */
  isAbove(call: C): boolean
}

/**
 * Of spans with one reply id those that repeat another one: a call that two instrumentations tell of, neither below the other. Ids alone
 * prove nothing, because some servers draw them from a few: times have to overlap and counts to be equal, and one instrumentation tells
 * of a call once. The one that began last is the closest to the call and stays, or the one above a counted call.
 */
export const repeatedCalls = <C extends ReportedCall>(calls: readonly C[], places: Places<C>): readonly C[] => {
  if (calls.length < 2 || calls.length > MAX_OF_REPLY) return []
  const found: Found<C>[] = []
  return calls.toSorted(byStart).flatMap((call) => {
    const same = found.find((one) => isRepeated(one, call, places))
    if (same !== undefined) return [mergedInto(same, call, places)]
    found.push({ call, scopes: new Set([call.reply.scope]) })
    return []
  })
}

/** A call and the instrumentations that tell of it. */
interface Found<C> {
  call: C
  readonly scopes: Set<string>
}

const isRepeated = <C extends ReportedCall>({ call, scopes }: Found<C>, later: C, places: Places<C>): boolean =>
  !scopes.has(later.reply.scope) && isAlike(call, later) && !places.isNested(call, later)

/** Returns the one that does not count. */
const mergedInto = <C extends ReportedCall>(found: Found<C>, later: C, places: Places<C>): C => {
  found.scopes.add(later.reply.scope)
  const earlier = found.call
  if (places.isAbove(earlier) && !places.isAbove(later)) return later
  found.call = later
  return earlier
}

const byStart = (one: ReportedCall, other: ReportedCall): number =>
  compare(one.start_ns, other.start_ns) || compare(one.reply.scope, other.reply.scope) || compare(one.id, other.id)

const compare = <T extends bigint | string>(one: T, other: T): number => (one < other ? -1 : one > other ? 1 : 0)

/** `later` begins no earlier. Without tokens nothing shows that two are one. */
const isAlike = (one: ReportedCall, later: ReportedCall): boolean =>
  one.input + one.output > 0n &&
  one.input === later.input &&
  one.output === later.output &&
  (one.end_ns === null || later.start_ns <= one.end_ns)

/** Ancestors that are looked at. */
const MAX_STEPS = 64

/** Whether one span is below the other; true as well where that takes long to tell. */
export const isNestedBy = <K>(one: K, other: K, parentOf: (at: K) => K | undefined): boolean =>
  isBelow(one, other, parentOf) || isBelow(other, one, parentOf)

const isBelow = <K>(from: K, ancestor: K, parentOf: (at: K) => K | undefined): boolean => {
  let at = parentOf(from)
  for (let step = 0; at !== undefined; step++) {
    if (at === ancestor || step === MAX_STEPS) return true
    at = parentOf(at)
  }
  return false
}
