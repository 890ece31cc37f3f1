import type { ExportFormat } from '#lib/export-format'

/** A record on its way out, and the span after which it is. */
export type OrderedRecord<S, E, A> =
  | { readonly kind: 'span'; readonly span: S }
  | { readonly kind: 'event'; readonly event: E; readonly span: S | null }
  | { readonly kind: 'artifact'; readonly artifact: A; readonly span: S | null }

/** The records of a run as a tree: spans depth first, the root before all others. */
interface RecordTree<S, E, A> {
  readonly spans: readonly S[]
  readonly events: readonly E[]
  readonly artifacts: readonly A[]
}

interface SpanNode<E> {
  readonly id: string
  readonly events: readonly E[]
}
interface SpanChild {
  readonly span_id: string | null
}

/** The records of a tree in the order in which they leave. */
export function* orderedRecords<S extends SpanNode<E>, E, A extends SpanChild>(
  tree: RecordTree<S, E, A>,
  order: NonNullable<ExportFormat['order']>,
): Generator<OrderedRecord<S, E, A>> {
  if (order === 'spans') return yield* nested(tree)
  for (const span of tree.spans) yield* withEvents(span)
  for (const event of tree.events) yield { kind: 'event', event, span: null }
  for (const artifact of tree.artifacts) yield { kind: 'artifact', artifact, span: null }
}

function* withEvents<S extends SpanNode<E>, E>(span: S): Generator<OrderedRecord<S, E, never>> {
  yield { kind: 'span', span }
  for (const event of span.events) yield { kind: 'event', event, span }
}

/** The first span is the root, which also carries what belongs to none. */
function* nested<S extends SpanNode<E>, E, A extends SpanChild>({ spans, events, artifacts }: RecordTree<S, E, A>) {
  const known = new Set(spans.map(({ id }) => id))
  const bySpan = Map.groupBy(artifacts, ({ span_id }) => (span_id !== null && known.has(span_id) ? span_id : null))
  let root = true
  for (const span of spans) {
    yield* withEvents<S, E>(span)
    for (const artifact of bySpan.get(span.id) ?? []) yield { kind: 'artifact' as const, artifact, span }
    if (!root) continue
    root = false
    for (const artifact of bySpan.get(null) ?? []) yield { kind: 'artifact' as const, artifact, span: null }
    for (const event of events) yield { kind: 'event' as const, event, span: null }
  }
}
