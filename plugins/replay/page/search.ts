import { spanKinds } from 'guard-gateway/core'
import type { Trace, TreeSpan } from '#lib/trace'
import { type Shape, spanTitle } from './shape.ts'

export interface SpanSearch {
  readonly words: readonly string[]
  readonly kinds: ReadonlySet<string>
}

export const spanSearch = (query: URLSearchParams): SpanSearch => ({
  words: (query.get('find') ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== ''),
  kinds: new Set(query.getAll('kind').filter((kind) => spanKinds.some((known) => known === kind))),
})

/** Indexes of the spans that contain every word and have one of the kinds; undefined without a search. */
export const matchesOf = (trace: Trace, shape: Shape, search: SpanSearch): ReadonlySet<number> | undefined => {
  if (search.words.length === 0 && search.kinds.size === 0) return undefined
  const places = new Set<number>()
  for (const [at, span] of trace.spans.entries()) if (isMatch(shape, span, search)) places.add(at)
  return places
}

const isMatch = (shape: Shape, span: TreeSpan, { words, kinds: selected }: SpanSearch): boolean => {
  if (selected.size > 0 && !selected.has(span.kind)) return false
  if (words.length === 0) return true
  const text = textOf(shape, span)
  return words.every((word) => text.includes(word))
}

/** Searchable text of a span, in lower case. */
const textOf = (shape: Shape, span: TreeSpan): string => {
  const { id, label, status, status_message, attributes, events } = span
  const parts = [spanTitle(shape, span), id, label, status, status_message, ...textsIn(attributes)]
  for (const event of events) parts.push(event.name, ...textsIn(event.attributes))
  return parts.join('\n').toLowerCase()
}

const textsIn = (attributes: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.values(attributes).flatMap((value) => (typeof value === 'object' ? [] : [String(value)]))

/** Next and previous match, cyclic; undefined without matches. */
export const neighbours = (
  places: Iterable<number>,
  at: number,
): { readonly next?: number; readonly before?: number; readonly position: number } => {
  const all = [...places]
  if (all.length === 0) return { position: 0 }
  const next = all.find((place) => place > at) ?? all[0]
  const before = all.findLast((place) => place < at) ?? all.at(-1)
  return {
    ...(next === undefined ? {} : { next }),
    ...(before === undefined ? {} : { before }),
    position: all.indexOf(at) + 1,
  }
}
