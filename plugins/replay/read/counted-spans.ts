import type { TraceSpan, TreeSpan } from '#lib/trace'
import { isNestedBy, type ReportedCall, repeatedCalls, replyOf } from '../repeated-calls.ts'

/** Whether a span tells of tokens or cost that count. */
export const hasUse = ({
  input_tokens,
  output_tokens,
  cost_micro,
}: Pick<TraceSpan, 'input_tokens' | 'output_tokens' | 'cost_micro'>): boolean =>
  input_tokens !== null || output_tokens !== null || cost_micro !== null

/** What a span is a call of; undefined for none. Usage makes a model call: it may be all that a sender tells of the calls in an agent. */
export const callKindOf = (span: TreeSpan): 'model' | 'tool' | 'command' | undefined => {
  const { kind } = span
  if (kind === 'tool' || kind === 'command') return kind
  return kind === 'model' || hasUse(span) ? 'model' : undefined
}

const MODEL = 'model'
const USED_MODEL = 'model with usage'

/** What a call is of, the most telling first: all models are one, because an agent's span of a request and the gateway's may name different ones. */
const calledIn = (span: TreeSpan): readonly string[] => {
  const kind = callKindOf(span)
  if (kind === undefined) return []
  if (kind !== 'model') return [`${kind} ${span.label ?? ''}`]
  return hasUse(span) ? [USED_MODEL, MODEL] : [MODEL]
}

/**
 * Spans of calls, each call once, in order of the tree. Of nested spans of one call the innermost counts, and of those with usage the
 * innermost with usage, as in the sums of a run; spans with the id of one tool call are one already (`foldCalls`).
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
    const { depth } = span
    const inner = below[depth + 1]
    below.length = Math.min(below.length, depth + 1)
    const called = calledIn(span)
    const [first] = called
    if (first !== undefined && inner?.has(first) !== true) counted.push(span)
    const all = merged(below[depth], inner)
    for (const each of called) all.add(each)
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

interface ReportedSpan extends ReportedCall {
  readonly span: TreeSpan
}

/** Calls without those that another span beside them tells of (`repeatedCalls`). */
const withoutRepeated = (counted: readonly TreeSpan[], spans: readonly TreeSpan[]): readonly TreeSpan[] => {
  const shared = [...byReply(spans).values()].filter(({ length }) => length > 1)
  if (shared.length === 0) return counted
  const parents = new Map(spans.map(({ id, parent_id }) => [id, parent_id ?? undefined]))
  const innermost = new Set(counted)
  const places = {
    isNested: (one: ReportedSpan, other: ReportedSpan) =>
      isNestedBy(one.span.id, other.span.id, (id) => parents.get(id)),
    isAbove: ({ span }: ReportedSpan) => !innermost.has(span),
  }
  for (const calls of shared) for (const { span } of repeatedCalls(calls, places)) innermost.delete(span)
  return counted.filter((span) => innermost.has(span))
}

const byReply = (spans: readonly TreeSpan[]): ReadonlyMap<string, readonly ReportedSpan[]> => {
  const reported = new Map<string, ReportedSpan[]>()
  for (const span of spans) {
    const reply = replyOf(span)
    if (reply === undefined) continue
    const { id, start_ns, end_ns } = span
    const call = { id, span, reply, start_ns, end_ns, input: span.input_tokens ?? 0n, output: span.output_tokens ?? 0n }
    const others = reported.get(reply.id)
    if (others === undefined) reported.set(reply.id, [call])
    else others.push(call)
  }
  return reported
}
