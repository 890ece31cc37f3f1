import { costText, groupedText } from '#lib/format'
import { terminalLine } from '#lib/text'
import type { TraceSpan } from '#lib/trace'
import { isUnseen, isUpperBound } from '../read/span-time.ts'
import { durationOf } from './list.ts'

/** Nanoseconds in a response; small ones are numbers. */
type Ns = bigint | number

/** An event in the response of `GET /api/v1/runs/{trace_id}`. */
export interface EventView {
  readonly id: string
  readonly name: string
  readonly time_ns: Ns
  readonly severity: string
  readonly owner: string
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A span of `GET /api/v1/runs/{trace_id}` with what its row in `…/rows` adds. */
export interface SpanView {
  readonly id: string
  readonly parent_id: string | null
  readonly name: string
  readonly label: string | null
  readonly kind: TraceSpan['kind']
  readonly owner: TraceSpan['owner']
  readonly status: string
  readonly start_ns: Ns
  readonly end_ns: Ns | null
  /** Null for a span without. */
  readonly tokens: Ns | null
  readonly cost_micro: Ns | null
  /** Why it failed. */
  readonly error: string | null
  /** Who else told of the same call. */
  readonly also_seen: readonly string[] | null
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly EventView[]
}

/** A line: a span or a span event; times are nanoseconds from the run's start. */
export interface Row {
  readonly depth: number
  /** `tool.call#2`; the root and events have no number. */
  readonly title: string
  readonly from: number
  /** Null while running; undefined for an event. */
  readonly until: number | null | undefined
  readonly took: string
  /** Empty for none. */
  readonly tokens: string
  readonly cost: string
  readonly status: string
  /** The gateway's decision. */
  readonly decided: string
  /** A client's decision, else the label of the span. */
  readonly note: string
}

/** Spans by `name#n`, numbered by start, then by tree order. */
export const titlesOf = (spans: readonly SpanView[]): ReadonlyMap<SpanView, string> => {
  const counts = new Map<string, number>()
  const titles = new Map<SpanView, string>()
  for (const span of spans.toSorted((a, b) => (a.start_ns < b.start_ns ? -1 : a.start_ns > b.start_ns ? 1 : 0))) {
    const count = (counts.get(span.name) ?? 0) + 1
    counts.set(span.name, count)
    titles.set(span, `${span.name}#${count}`)
  }
  return titles
}

/** Spans with one of the names, or `name#n`, and their descendants; all spans without names. */
export const selectSpans = (spans: readonly SpanView[], names: readonly string[]): readonly SpanView[] => {
  if (names.length === 0) return spans
  const titles = titlesOf(spans)
  const selected = new Set<string>()
  return spans.filter((span) => {
    const named = names.includes(span.name) || names.includes(titles.get(span) ?? '')
    if (!named && (span.parent_id === null || !selected.has(span.parent_id))) return false
    selected.add(span.id)
    return true
  })
}

/** Rows of spans, in order, optionally with their events. */
export const rowsOfSpans = (
  spans: readonly SpanView[],
  titles: ReadonlyMap<SpanView, string>,
  start_ns: Ns,
  events: boolean,
): readonly Row[] => {
  const depths = new Map<string, number>()
  const rows: Row[] = []
  for (const span of spans) {
    const depth = span.parent_id === null ? 0 : (depths.get(span.parent_id) ?? -1) + 1
    depths.set(span.id, depth)
    rows.push(spanRow(span, titles.get(span) ?? span.name, depth, start_ns))
    if (events) for (const event of span.events) rows.push(eventRow(event, depth + 1, start_ns))
  }
  return rows
}

const since = (ns: Ns, start_ns: Ns): number => Number(BigInt(ns) - BigInt(start_ns))

const spanRow = (span: SpanView, title: string, depth: number, start_ns: Ns): Row => {
  const from = since(span.start_ns, start_ns)
  const unseen = isUnseen(span)
  const until = unseen ? from : span.end_ns === null ? null : since(span.end_ns, start_ns)
  const text = decisionText(span.events)
  return {
    depth,
    title: terminalLine(span.parent_id === null ? span.name : title),
    from,
    until,
    took: tookText(span, until === null ? null : until - from),
    tokens: span.tokens === null || Number(span.tokens) === 0 ? '' : groupedText(span.tokens),
    cost: span.cost_micro === null || Number(span.cost_micro) === 0 ? '' : costText(span.cost_micro),
    status: unseen ? '–' : span.status,
    decided: text.decided,
    note: text.note === '' && text.decided === '' ? noteOf(span) : text.note,
  }
}

/** Label of a span, after why it failed; who else told of the call. */
const noteOf = ({ label, error, also_seen, status }: SpanView): string =>
  terminalLine(
    [
      error !== null && status !== 'ok' ? error : '',
      label ?? '',
      also_seen === null ? '' : `(also seen by ${[...new Set(also_seen)].join(', ')})`,
    ]
      .filter((part) => part !== '')
      .join(' '),
  )

const tookText = (span: SpanView, ns: number | null): string => {
  if (isUnseen(span)) return '–'
  return `${isUpperBound(span) ? '≤' : ''}${durationOf(ns)}`
}

/** An event as a row: a mark at its time. */
export const eventRow = (event: EventView, depth: number, start_ns: Ns): Row => ({
  depth,
  title: terminalLine(event.name),
  from: since(event.time_ns, start_ns),
  until: undefined,
  took: '',
  tokens: '',
  cost: '',
  status: event.severity,
  ...decisionText([event]),
})

/** Decision and reason; a client's decision is marked. */
const decisionText = (events: readonly EventView[]): Pick<Row, 'decided' | 'note'> => {
  const [reported, own] = [true, false].map((isClients) =>
    terminalLine(decisionsOf(events.filter(({ owner }) => (owner === 'client') === isClients))),
  )
  return { decided: own ?? '', note: reported ?? '' }
}

const decisionsOf = (events: readonly EventView[]): string =>
  events
    .filter(({ name, attributes }) => name === 'policy.decision' && typeof attributes.decision === 'string')
    .map(({ attributes: { decision, reason_code }, owner }) =>
      [decision, typeof reason_code === 'string' ? reason_code : '', owner === 'client' ? '(client)' : '']
        .filter((word) => word !== '')
        .join(' '),
    )
    .join(', ')
