import { GuardError } from 'guard-gateway/core'
import { isShape, listOf, type Shape, shapeOf } from 'guard-gateway/lib/json'
import { isContentEvent } from 'guard-gateway/lib/otlp'

/** Spans of one request that are kept, and events. */
export const MAX_RECORDS = 10_000

/** Trace data within the limits of one request. */
export interface ValidatedData {
  readonly data: Shape
  /** Number of spans that were sent. */
  readonly sent: number
  /** What was skipped, as text. */
  readonly notes: readonly string[]
}

const SIGNALS: Readonly<Record<string, string>> = {
  resourceLogs: 'These are logs. Send them to /v1/logs, where they are answered and not kept.',
  resourceMetrics: 'These are metrics. Send them to /v1/metrics, where they are answered and not kept.',
}

/** Names of members that are no secrets and fit a sentence. */
const membersOf = (record: Shape): string =>
  Object.keys(record)
    .map((name) => (/^[A-Za-z_]{1,40}$/.test(name) ? `"${name}"` : 'a member of another name'))
    .slice(0, 3)
    .join(', ')

/** Describes what a record has instead of the expected list; undefined if it has the list, or nothing else. */
const insteadOf = (record: Shape, list: string, known: readonly string[]): string | undefined => {
  if (Array.isArray(record[list])) return undefined
  const other = Object.fromEntries(Object.entries(record).filter(([name]) => name !== list && !known.includes(name)))
  if (Object.keys(other).length === 0) return undefined
  return `there is ${membersOf(other)} where OTLP has "${list}"`
}

const notOtlp = (message: string): GuardError => new GuardError('INVALID_TRACE', message, { path: '' })

/** Validates trace data before any span is read. Records beyond the limits are left out. Throws INVALID_TRACE for data that is not OTLP. */
export const validate = (data: unknown): ValidatedData => {
  if (!isShape(data)) throw notOtlp('The body must be an object with "resourceSpans".')
  const signal = Object.keys(SIGNALS).find((name) => Object.hasOwn(data, name))
  const wrong = insteadOf(data, 'resourceSpans', [])
  if (wrong !== undefined && !Object.hasOwn(data, 'resourceSpans'))
    throw notOtlp(
      (signal && SIGNALS[signal]) ??
        `The body is no OTLP trace data: ${wrong}. Use an exporter for OTLP over HTTP, whose JSON names are in lowerCamelCase.`,
    )
  const counted = new RecordLimiter()
  const resourceSpans = Array.isArray(data.resourceSpans)
    ? data.resourceSpans.map((group) => counted.group(group))
    : data.resourceSpans
  if (counted.sent === 0 && counted.odd[0] !== undefined)
    throw notOtlp(`The body is no OTLP trace data: ${counted.odd[0]}.`)
  return { data: { ...data, resourceSpans }, sent: counted.sent, notes: counted.notes }
}

/** Counts spans and events, and drops those beyond the limit. */
class RecordLimiter {
  sent = 0
  readonly odd: string[] = []
  #spans = 0
  #events = 0
  #lostEvents = 0

  get notes(): readonly string[] {
    const tooMany = (count: number, what: string): readonly string[] =>
      count === 0
        ? []
        : [`a request has at most ${MAX_RECORDS} ${what}; ${count} more were left out. Send smaller batches`]
    return [...this.odd, ...tooMany(this.sent - this.#spans, 'spans'), ...tooMany(this.#lostEvents, 'events')]
  }

  group(group: unknown): unknown {
    if (!isShape(group)) return group
    this.#note(insteadOf(group, 'scopeSpans', ['resource', 'schemaUrl']))
    if (!Array.isArray(group.scopeSpans)) return group
    return { ...group, scopeSpans: group.scopeSpans.map((scoped) => this.#scoped(scoped)) }
  }

  #note(odd: string | undefined): void {
    if (odd !== undefined) this.odd.push(odd)
  }

  #scoped(scoped: unknown): unknown {
    if (!isShape(scoped)) return scoped
    this.#note(insteadOf(scoped, 'spans', ['scope', 'schemaUrl']))
    if (!Array.isArray(scoped.spans)) return scoped
    const spans = scoped.spans.slice(0, MAX_RECORDS - this.#spans)
    this.sent += scoped.spans.length
    this.#spans += spans.length
    return { ...scoped, spans: spans.map((span) => this.#withEvents(span)) }
  }

  #withEvents(span: unknown): unknown {
    const events = listOf(shapeOf(span).events)
    if (events.length === 0 || !isShape(span)) return span
    // what tells nothing but what was said is not kept, or only in previews, and takes no other event's place
    const counting = events.filter((event) => !isContentEvent(String(shapeOf(event).name)))
    const room = MAX_RECORDS - this.#events
    this.#events += Math.min(counting.length, room)
    if (counting.length <= room && events.length <= MAX_RECORDS) return span
    this.#lostEvents += events.length - Math.min(counting.length, room)
    return { ...span, events: counting.slice(0, room) }
  }
}
