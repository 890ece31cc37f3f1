import type { TreeSpan } from 'guard-gateway/lib/trace'
import { isNestedBy, repeatedCalls, replyOf, type ToldCall } from '../repeated-calls.ts'

/** Kinds whose spans are calls of something. */
const CALLS: ReadonlySet<string> = new Set(['model', 'tool', 'command'])

/** What a call is of: all models are one, because an agent's span of a request and the gateway's may name different ones. */
const calledIn = ({ kind, label }: TreeSpan): string => (kind === 'model' ? kind : `${kind} ${label ?? ''}`)

/**
 * Spans of calls, each call once, in order of the tree. Of nested spans of one call the innermost counts, as in the sums of a run; spans
 * with the id of one tool call are one already (`foldCalls`).
 */
export const countedSpans = (spans: readonly TreeSpan[]): readonly TreeSpan[] => {
  const counted = known.get(spans) ?? withoutRepeated(count(spans), spans)
  known.set(spans, counted)
  return counted
}

/** Cached, because each view of a long run needs them. */
const known = new WeakMap<readonly TreeSpan[], readonly TreeSpan[]>()

const count = (spans: readonly TreeSpan[]): readonly TreeSpan[] => {
  const counted: TreeSpan[] = []
  /** Calls in the part of the tree that was passed, by depth. */
  const below: (Set<string> | undefined)[] = []
  for (let at = spans.length - 1; at >= 0; at--) {
    const span = spans[at] as TreeSpan
    const { depth, kind } = span
    const inner = below[depth + 1]
    below.length = Math.min(below.length, depth + 1)
    const called = CALLS.has(kind) ? calledIn(span) : undefined
    if (called !== undefined && inner?.has(called) !== true) counted.push(span)
    const all = merged(below[depth], inner)
    if (called !== undefined) all.add(called)
    below[depth] = all
  }
  return counted.reverse()
}

/** Both sets in the larger one. */
const merged = (one = new Set<string>(), other = new Set<string>()): Set<string> => {
  const [more, fewer] = one.size < other.size ? [other, one] : [one, other]
  for (const called of fewer) more.add(called)
  return more
}

interface Told extends ToldCall {
  readonly span: TreeSpan
}

/** Calls without those that another span beside them tells of (`repeatedCalls`). */
const withoutRepeated = (counted: readonly TreeSpan[], spans: readonly TreeSpan[]): readonly TreeSpan[] => {
  const shared = [...byReply(spans).values()].filter(({ length }) => length > 1)
  if (shared.length === 0) return counted
  const parents = new Map(spans.map(({ id, parent_id }) => [id, parent_id ?? undefined]))
  const innermost = new Set(counted)
  const places = {
    isNested: (one: Told, other: Told) => isNestedBy(one.span.id, other.span.id, (id) => parents.get(id)),
    isAbove: ({ span }: Told) => !innermost.has(span),
  }
  for (const calls of shared) for (const { span } of repeatedCalls(calls, places)) innermost.delete(span)
  return counted.filter((span) => innermost.has(span))
}

const byReply = (spans: readonly TreeSpan[]): ReadonlyMap<string, readonly Told[]> => {
  const told = new Map<string, Told[]>()
  for (const span of spans) {
    const reply = replyOf(span)
    if (reply === undefined) continue
    const { id, start_ns, end_ns } = span
    const call = { id, span, reply, start_ns, end_ns, input: span.input_tokens ?? 0n, output: span.output_tokens ?? 0n }
    const others = told.get(reply.id)
    if (others === undefined) told.set(reply.id, [call])
    else others.push(call)
  }
  return told
}
