import { GuardError } from 'guard-gateway/core'
import { isJsonObject, type JsonObject, jsonObjectOf, listOf } from 'guard-gateway/lib/json'
import { isContentEvent } from 'guard-gateway/lib/otlp'

/** Limit of spans and events per request. */
export const MAX_RECORDS = 10_000

/** Trace data within the limits of a request. */
export interface ValidatedData {
  readonly data: JsonObject
  /** Number of received spans. */
  readonly received: number
  /** Notes about skipped data. */
  readonly notes: readonly string[]
}

const HINTS: Readonly<Record<string, string>> = {
  resourceLogs: 'These are logs. Send them to /v1/logs, which accepts and does not store them.',
  resourceMetrics: 'These are metrics. Send them to /v1/metrics, which accepts and does not store them.',
}

/** Member names that are no secrets and short enough. */
const memberNames = (record: JsonObject): string =>
  Object.keys(record)
    .map((name) => (/^[A-Za-z_]{1,40}$/.test(name) ? `"${name}"` : 'a member of another name'))
    .slice(0, 3)
    .join(', ')

/** Describes a record that lacks the expected list; undefined if it has the list or no other members. */
const mismatchOf = (record: JsonObject, list: string, known: readonly string[]): string | undefined => {
  if (Array.isArray(record[list])) return undefined
  const other = Object.fromEntries(Object.entries(record).filter(([name]) => name !== list && !known.includes(name)))
  if (Object.keys(other).length === 0) return undefined
  return `there is ${memberNames(other)} where OTLP has "${list}"`
}

const notOtlp = (message: string): GuardError => new GuardError('INVALID_TRACE', message, { path: '' })

/** Validates trace data before spans are read, and drops records beyond the limits. Throws INVALID_TRACE for data that is not OTLP. */
export const validate = (data: unknown): ValidatedData => {
  if (!isJsonObject(data)) throw notOtlp('The body must be an object with "resourceSpans".')
  const signal = Object.keys(HINTS).find((name) => Object.hasOwn(data, name))
  const mismatch = mismatchOf(data, 'resourceSpans', [])
  if (mismatch !== undefined && !Object.hasOwn(data, 'resourceSpans'))
    throw notOtlp(
      (signal && HINTS[signal]) ??
        `The body is no OTLP trace data: ${mismatch}. Use an exporter for OTLP over HTTP, whose JSON names are in lowerCamelCase.`,
    )
  const limiter = new RecordLimiter()
  const resourceSpans = Array.isArray(data.resourceSpans)
    ? data.resourceSpans.map((group) => limiter.group(group))
    : data.resourceSpans
  if (limiter.received === 0 && limiter.mismatches[0] !== undefined)
    throw notOtlp(`The body is no OTLP trace data: ${limiter.mismatches[0]}.`)
  return { data: { ...data, resourceSpans }, received: limiter.received, notes: limiter.notes }
}

/** Counts spans and events, and drops those beyond the limit. */
class RecordLimiter {
  received = 0
  readonly mismatches: string[] = []
  #spans = 0
  #events = 0
  #lostEvents = 0

  get notes(): readonly string[] {
    const tooMany = (count: number, what: string): readonly string[] =>
      count === 0
        ? []
        : [`a request has at most ${MAX_RECORDS} ${what}; ${count} more were left out. Send smaller batches`]
    return [
      ...this.mismatches,
      ...tooMany(this.received - this.#spans, 'spans'),
      ...tooMany(this.#lostEvents, 'events'),
    ]
  }

  group(group: unknown): unknown {
    if (!isJsonObject(group)) return group
    this.#note(mismatchOf(group, 'scopeSpans', ['resource', 'schemaUrl']))
    if (!Array.isArray(group.scopeSpans)) return group
    return { ...group, scopeSpans: group.scopeSpans.map((scoped) => this.#scoped(scoped)) }
  }

  #note(mismatches: string | undefined): void {
    if (mismatches !== undefined) this.mismatches.push(mismatches)
  }

  #scoped(scoped: unknown): unknown {
    if (!isJsonObject(scoped)) return scoped
    this.#note(mismatchOf(scoped, 'spans', ['scope', 'schemaUrl']))
    if (!Array.isArray(scoped.spans)) return scoped
    const spans = scoped.spans.slice(0, MAX_RECORDS - this.#spans)
    this.received += scoped.spans.length
    this.#spans += spans.length
    return { ...scoped, spans: spans.map((span) => this.#withEvents(span)) }
  }

  #withEvents(span: unknown): unknown {
    // rejected alone, as a span without ids
    if (!isJsonObject(span)) return {}
    const events = listOf(span.events)
    if (events.length === 0) return span
    // content-only events are dropped or become previews, so they do not count
    const counted = events.filter((event) => !isContentEvent(String(jsonObjectOf(event).name)))
    const remaining = MAX_RECORDS - this.#events
    this.#events += Math.min(counted.length, remaining)
    if (counted.length <= remaining && events.length <= MAX_RECORDS) return span
    this.#lostEvents += events.length - Math.min(counted.length, remaining)
    return { ...span, events: counted.slice(0, remaining) }
  }
}
