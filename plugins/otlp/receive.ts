import {
  type Attributes,
  type Fragment,
  type FragmentRun,
  type Gateway,
  GuardError,
  type Redactor,
  type RunDraft,
} from 'guard-gateway/core'
import { storedId } from '#lib/ids'
import { isJsonObject, type JsonObject, jsonObjectOf, listOf, pointerOf, writeJson } from '#lib/json'
import { fromOtlp, isContentEvent, MetadataOnly, type OtlpReading, type OtlpRun, semconv } from '#lib/otlp'
import { isSessionName, namedSession } from '#lib/session'
import { cutBeforeRedaction, cutText } from '#lib/text'
import { mapPaced, Pace } from '#lib/time-slice'
import { newSpanId } from '#lib/trace'
import { ImportFault } from '#lib/trace-file'
import type { PartialSuccess } from './codec.ts'
import { withinLimits } from './limits.ts'
import { writeFragments } from './write.ts'

export interface ReceiveContext {
  readonly gateway: Gateway
  /** From the request header. It overrides the project in the data. */
  readonly project_id: string | undefined
  /** Whether previews of prompts and replies are stored. */
  readonly storesContent: boolean
}

/** Stores the valid part of OTLP trace data and reports the rest. Throws for data that is invalid as a whole, and for storage errors. */
export const receive = async (context: ReceiveContext, body: unknown): Promise<PartialSuccess | undefined> => {
  const { gateway, storesContent } = context
  // yields between the steps, each of which processes up to 32 MiB
  const pace = new Pace()
  await pace.rest()
  const { data, received: sent, notes: skipped } = validate(body)
  await pace.rest()
  const { runs, rejected } = await readData(data, storesContent, pace)
  const notes = [...skipped, ...rejected.map(({ message, place }) => `${pointerOf(place.path)}: ${message}`)]
  const names = new MetadataOnly()
  const fragments: Fragment[] = []
  let rejected_spans = sent - runs.reduce((sum, { spans }) => sum + spans.length, 0)
  await pace.rest()
  for (const found of runs) {
    if (pace.due) await pace.rest()
    const previewed = storesContent ? await previewsOf(context, found, names, pace) : found
    const limited = await withinLimits(previewed, names, pace)
    const built = fragmentOf(limited.run, await runOf(context, limited.run), gateway.redact)
    notes.push(...limited.notes, ...built.notes)
    rejected_spans += built.lost_spans
    const { spans, events, artifacts } = built.fragment
    // without a valid record there is no run
    if (spans.length + events.length + artifacts.length > 0) fragments.push(built.fragment)
  }
  for (const { spans, others, notes: more } of await writeFragments(gateway, fragments)) {
    rejected_spans += spans.size
    notes.push(...more)
    for (const [id, { message }] of spans) notes.push(`span ${id}: ${message}`)
    for (const { message } of others) notes.push(message)
  }
  return partial(rejected_spans, sent, notes)
}

/** The run with previews, redacted as the run will be: half a value that its session knows is not recognised later. */
const previewsOf = async (
  context: ReceiveContext,
  found: OtlpRun,
  names: MetadataOnly,
  pace: Pace,
): Promise<OtlpRun> => {
  const { redact } = context.gateway
  const { trace_id, session_id, project_id, default_project_id } = await runOf(context, found)
  const stored = (id: string | null | undefined) => (id == null ? undefined : storedId(id, redact))
  const scope = {
    trace_id: stored(trace_id),
    session_id: stored(session_id),
    project_id: stored(project_id),
    default_project_id: stored(default_project_id),
  }
  const work = (within: Pick<Redactor, 'text' | 'value'>) => withPreviews(found, within, names, pace)
  return context.gateway.service('redaction').need().within(scope, work)
}

const partial = (
  rejectedSpans: number,
  sent: number,
  [first, ...more]: readonly string[],
): PartialSuccess | undefined => {
  if (first === undefined && rejectedSpans === 0) return undefined
  const count = `${rejectedSpans} of ${sent} spans were rejected`
  const reason = first === undefined ? '' : `; ${first}`
  const suffix = more.length === 0 ? '' : ` (and ${more.length} more)`
  return { rejectedSpans, errorMessage: count + reason + suffix }
}

const readData = async (data: JsonObject, storesContent: boolean, pace: Pace): Promise<OtlpReading> => {
  try {
    return await fromOtlp(data, { keepsContent: () => storesContent }, pace)
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error
    const path = pointerOf(error.place.path)
    throw new GuardError('INVALID_TRACE', `${path}: ${error.message}`, { path, cause: error })
  }
}

const RESOURCE_SERVICE = `resource.${semconv.service}`

/** What spans only suggest takes effect where nobody has said more: service as agent, root as name. Spans of another request may tell better. */
const withInferred = (draft: RunDraft): FragmentRun => {
  const { agent_name, name, tags, ...run } = draft
  const isService = typeof agent_name === 'string' && agent_name === run.attributes?.[RESOURCE_SERVICE]
  return {
    ...run,
    ...(typeof agent_name === 'string' && { [isService ? 'default_agent_name' : 'agent_name']: agent_name }),
    ...(typeof name === 'string' && { default_name: name }),
    ...(tags !== undefined && { default_tags: tags }),
  }
}

const runOf = async (context: ReceiveContext, { run: draft, names, ours }: OtlpRun): Promise<FragmentRun> => {
  const { gateway } = context
  const { project_id: declared, ...base } = ours ? draft : withInferred(draft)
  const project = context.project_id ?? declared
  const isGuess = context.project_id === undefined && names.project_guessed === true
  const run = project === undefined ? base : { ...base, [isGuess ? 'default_project_id' : 'project_id']: project }
  const { session_id: named = run.session_id } = names
  const label = typeof named === 'string' && isSessionName(named) ? storedId(named, gateway.redact) : undefined
  if (label === undefined) return run
  return {
    ...run,
    session_id: await namedSession(gateway.storage, storedId(project ?? 'default', gateway.redact) ?? '', label),
  }
}

/** A fragment built from OTLP data, and notes about omitted data. */
interface BuiltFragment {
  readonly fragment: Fragment
  readonly lost_spans: number
  readonly notes: readonly string[]
}

/** Builds a fragment from records whose ids hold no key; those that look like secrets are hashed. Of records with one id, the last wins. */
const fragmentOf = (found: OtlpRun, sent: FragmentRun, redact: Pick<Redactor, 'judgeId'>): BuiltFragment => {
  const notes: string[] = []
  /** The record with these ids as they are stored; none if one of them is a key. */
  const stored = <R extends object>(record: R, names: readonly (keyof R & string)[]): readonly R[] => {
    let copy = record
    for (const name of names) {
      const id = record[name]
      if (typeof id !== 'string') continue
      const cleaned = storedId(id, redact)
      if (cleaned === undefined) {
        notes.push(`"${name}" is a secret; use an id that may be shown`)
        return []
      }
      if (cleaned !== id) copy = { ...copy, [name]: cleaned }
    }
    return [copy]
  }
  const base = { owner: 'client', origin: 'otlp' } as const
  const [run] = stored(sent, ['trace_id', 'project_id', 'default_project_id', 'session_id', 'agent_id'])
  const names = originalNames(found, sent)
  if (run === undefined || stored(names, ['session_id', 'agent_id', 'project_id']).length === 0)
    return {
      fragment: { ...base, run: sent, spans: [], events: [], artifacts: [] },
      lost_spans: found.spans.length,
      notes,
    }
  const spans = found.spans.flatMap(({ record }) => stored(record, ['id', 'parent_id']))
  const spanIds = new Set(spans.map(({ id }) => id))
  const hasSpan = ({ span_id }: { readonly span_id?: string | null }): boolean =>
    typeof span_id !== 'string' || spanIds.has(span_id)
  const events = found.events
    .map(({ record }) => ({ ...record, id: record.id ?? `evt_${newSpanId()}` }))
    .flatMap((event) => stored(event, ['id', 'span_id', 'request_id']))
    .filter(hasSpan)
  const artifacts = found.artifacts
    .map(({ record }) => ({ ...record, id: record.id ?? `art_${newSpanId()}` }))
    .flatMap((artifact) => stored(artifact, ['id', 'span_id']))
    .filter(hasSpan)
  const fragment = { ...base, run, spans: lastOf(spans), events: lastOf(events), artifacts: lastOf(artifacts) }
  return { fragment, lost_spans: found.spans.length - spans.length, notes }
}

/** Original names of the run's ids: redaction may have missed secrets in them. */
const originalNames = (
  { run, names: { session_id, agent_id, project_id } }: OtlpRun,
  { project_id: declared, default_project_id: inferred }: FragmentRun,
) => ({
  session_id,
  agent_id,
  project_id: run.project_id === (declared ?? inferred) ? project_id : undefined,
})

/** Last record of each id, at the position of the first. */
const lastOf = <R extends { readonly id: string }>(records: readonly R[]): readonly R[] => {
  const byId = new Map(records.map((record) => [record.id, record]))
  return byId.size === records.length ? records : [...byId.values()]
}

/** Limit of spans and events per request. */
const MAX_RECORDS = 10_000

/** Trace data within the limits of a request. */
interface ValidatedData {
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
const validate = (data: unknown): ValidatedData => {
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

const PREVIEW_CHARS = 500

/**
 * Redacts all values except metadata, then truncates them to 500 characters. Truncation first could leave half a secret. `names` has the metadata keys.
 */
const withPreviews = async (
  run: OtlpRun,
  redact: Pick<Redactor, 'text' | 'value'>,
  names: MetadataOnly,
  pace: Pace,
): Promise<OtlpRun> => {
  const preview = (value: unknown): unknown => {
    if (typeof value === 'string') return cutText(redact.text(cutBeforeRedaction(value)), PREVIEW_CHARS)
    if (typeof value !== 'object' || value === null) return value
    return cutText(redact.text(cutBeforeRedaction(writeJson(redact.value(value)))), PREVIEW_CHARS)
  }
  const previewed = (attributes: Attributes, all: boolean): Attributes => {
    const entries = Object.entries(attributes)
    const content = entries.filter(([name, value]) => all || names.retained(name, value) !== value)
    if (content.length === 0) return attributes
    const copy: Record<string, unknown> = Object.assign(Object.create(null), attributes)
    for (const [name, value] of content) copy[name] = preview(value)
    return copy
  }
  const inRecord = <R extends { readonly attributes?: Attributes }>(record: R, all = false): R => {
    if (record.attributes === undefined) return record
    const attributes = previewed(record.attributes, all)
    return attributes === record.attributes ? record : { ...record, attributes }
  }
  return {
    ...run,
    run: inRecord(run.run),
    spans: await mapPaced(run.spans, pace, ({ record, place }) => ({ record: inRecord(record), place })),
    events: await mapPaced(run.events, pace, ({ record, place }) => ({
      record: inRecord(record, isContentEvent(record.name)),
      place,
    })),
  }
}
