import type { SeenSpan, TraceEvent, TraceSpan } from '#lib/trace'
import { isFailed } from './span-time.ts'

/** A span that stands for all spans of its tool call. */
type Folded<S> = S & { readonly also_seen?: readonly SeenSpan[] }

type Event = Pick<TraceEvent, 'span_id'>

interface FoldedRecords<S, E> {
  readonly spans: readonly Folded<S>[]
  readonly events: readonly E[]
  /** Ids of spans that are left out, with the id of the span that stands for them. */
  readonly aliases: ReadonlyMap<string, string>
}

/**
 * Records of a run in which each tool call is one span, where ids of calls agree: a program, its instrumentation, the MCP proxy and the
 * gateway may all tell of a call. The span of the proxy stands for the others, else that of a client; it has their attributes too, and
 * failed if one of them did. What is on record stays as it is.
 */
export const foldCalls = <S extends TraceSpan, E extends Event>(
  spans: readonly S[],
  events: readonly E[],
  root_id: string,
): FoldedRecords<S, E> => {
  const calls = callsOf(spans.filter(({ id, kind }) => kind === 'tool' && id !== root_id))
  if (calls.length === 0) return { spans, events, aliases: new Map() }
  const byId = new Map(spans.map((span) => [span.id, span]))
  const aliases = new Map<string, string>()
  const folded = new Map<string, Folded<S>>()
  for (const members of calls) {
    const span = foldedOf(members, byId)
    folded.set(span.id, span)
    for (const { id } of members) if (id !== span.id) aliases.set(id, span.id)
  }
  return {
    spans: spans.flatMap((span) => {
      if (aliases.has(span.id)) return []
      const one = folded.get(span.id) ?? span
      const parent_id = nameOf(aliases, one.parent_id)
      return [parent_id === one.parent_id ? one : { ...one, parent_id }]
    }),
    events: events.map((event) => {
      const span_id = nameOf(aliases, event.span_id)
      return span_id === event.span_id ? event : { ...event, span_id }
    }),
    aliases,
  }
}

const nameOf = (aliases: ReadonlyMap<string, string>, id: string | null): string | null =>
  id === null ? null : (aliases.get(id) ?? id)

/** Of spans of tools those of one call each, of which there are several. */
const callsOf = <S extends TraceSpan>(spans: readonly S[]): readonly (readonly S[])[] => {
  const named = new Map<unknown, S[]>()
  for (const span of spans) {
    const id = span.attributes['gen_ai.tool.call.id']
    if (typeof id !== 'string' || id === '') continue
    const others = named.get(id)
    if (others === undefined) named.set(id, [span])
    else others.push(span)
  }
  return [...named.values()].flatMap((alike) => (alike.length === 1 ? [] : separated(alike))).filter(isSeveral)
}

const isSeveral = (members: readonly unknown[]): boolean => members.length > 1

/** Spans of one id by call: some models number the calls of each turn alike. Calls of one id do not overlap. */
const separated = <S extends TraceSpan>(alike: readonly S[]): readonly (readonly S[])[] => {
  const sorted = alike.toSorted((a, b) => (a.start_ns < b.start_ns ? -1 : a.start_ns > b.start_ns ? 1 : 0))
  const seen = sorted.filter(({ owner }) => owner === 'gateway')
  const made = overlapping(sorted.filter(({ owner }) => owner !== 'gateway'))
  const [only] = seen
  if (made.length === 0) return []
  if (only === undefined) return made
  if (made.length === seen.length) return made.map((members, at) => [...members, seen[at] as S])
  // the reply that asks for a call comes before it
  const rest = [...seen]
  return made.map((members) => {
    const at = rest.findLastIndex(({ start_ns }) => members.some((member) => start_ns <= member.start_ns))
    return at < 0 ? members : [...members, ...rest.splice(0, at + 1).slice(-1)]
  })
}

const overlapping = <S extends TraceSpan>(sorted: readonly S[]): readonly (readonly S[])[] => {
  const groups: S[][] = []
  let until: bigint | null = -1n
  for (const span of sorted) {
    const group = groups.at(-1)
    if (group !== undefined && (until === null || span.start_ns <= until)) group.push(span)
    else {
      groups.push([span])
      until = -1n
    }
    if (until !== null && (span.end_ns === null || span.end_ns > until)) until = span.end_ns
  }
  return groups
}

const ranks = { mcp: 2, client: 1, gateway: 0 } as const

/** Who executes a call knows more of it; of two clients who tells more. */
const knowsMore = (one: TraceSpan, other: TraceSpan): number =>
  ranks[one.owner] - ranks[other.owner] || Object.keys(one.attributes).length - Object.keys(other.attributes).length

const foldedOf = <S extends TraceSpan>(members: readonly S[], byId: ReadonlyMap<string, S>): Folded<S> => {
  const ranked = members.toSorted((one, other) => knowsMore(other, one))
  const [span, ...others] = ranked as [S, ...S[]]
  const failed = isFailed(span) ? undefined : others.find(isFailed)
  return {
    ...span,
    parent_id: parentOf(span, new Set(members.map(({ id }) => id)), byId),
    label: span.label ?? others.find(({ label }) => label !== null)?.label ?? null,
    ...(failed === undefined
      ? {}
      : { status: failed.status, status_message: span.status_message ?? failed.status_message }),
    attributes: Object.assign(Object.create(null), ...ranked.toReversed().map(attributesOf), failed && errorIn(failed)),
    also_seen: others.map(({ id, owner }) => ({ id, owner })),
  }
}

/** Attributes but for what a span says of its own end. */
const attributesOf = ({ owner, attributes }: TraceSpan): object => {
  if (owner !== 'gateway') return attributes
  const { 'guard.tool.observed': _observed, 'error.type': _type, ...others } = attributes
  return others
}

const errorIn = ({ attributes: { 'error.type': type } }: TraceSpan): object =>
  type === undefined ? {} : { 'error.type': type }

/** Spans between two spans of one call are few: those of the programs that it passes. */
const MAX_BETWEEN = 64

/** The parent of a span outside of its call: what is between two spans of one call comes below the one that is left. */
const parentOf = (
  span: TraceSpan,
  members: ReadonlySet<string>,
  byId: ReadonlyMap<string, TraceSpan>,
): string | null => {
  let outside = span.parent_id
  const passed = new Set<string>()
  for (let at = span.parent_id; at !== null && passed.size < MAX_BETWEEN; at = byId.get(at)?.parent_id ?? null) {
    if (passed.has(at)) break
    passed.add(at)
    if (members.has(at)) outside = byId.get(at)?.parent_id ?? null
  }
  return outside
}
