import {
  type Fragment,
  type FragmentRun,
  type FragmentWarning,
  type Gateway,
  GuardError,
  type RunDraft,
} from 'guard-gateway/core'
import { isJsonObject, type JsonObject } from '#lib/json'
import { isSessionName, namedSession } from '#lib/session'
import { newTraceId } from '#lib/trace'
import { type RunSummary, runDraft, runSummary, traceFileErrors } from '#lib/trace-file'
import { replayErrors } from '../error-codes.ts'
import { urlOf } from '../run-address.ts'
import type { RunWriter } from '../write/run-writer.ts'
import { BodyRecords, checked, type Warning } from './body-records.ts'

export interface Ingest {
  readonly gateway: Gateway
  readonly runWriter: RunWriter
  /** From the request header; the body overrides it. */
  readonly project_id: string | undefined
}

export interface TraceAnswer {
  readonly trace_id: string
  readonly created: boolean
  readonly run: RunSummary
  readonly span_ids: readonly string[]
  readonly warnings: readonly Warning[]
  readonly url: string
}

/** Stores a trace with its nested spans, events and artifacts. */
export const ingestTrace = async (ingest: Ingest, body: unknown): Promise<TraceAnswer> => {
  const record = bodyOf(body)
  if (record.schema !== undefined || record.run !== undefined) throw new GuardError(replayErrors.USE_IMPORT)
  const records = new BodyRecords(ingest.gateway.redact)
  const run = await readRun(ingest, record, records)
  records.addAll(record, ROOT)
  return keep(ingest, run, records)
}

export interface SpanAnswer {
  readonly trace_id: string
  readonly span_id: string
  readonly created: boolean
  readonly run: RunSummary
  readonly warnings: readonly Warning[]
}

/** Stores a span; run fields are beside its own. */
export const ingestSpan = async (ingest: Ingest, body: unknown): Promise<SpanAnswer> => {
  const record = bodyOf(body)
  const records = new BodyRecords(ingest.gateway.redact)
  const { trace_id, project_id, session_id, agent_name, task_id } = record
  const run = await readRun(ingest, { trace_id, project_id, session_id, agent_name, task_id }, records)
  records.addSpan(record, ROOT)
  const { span_ids, url: _url, ...answer } = await keep(ingest, run, records)
  return { ...answer, span_id: span_ids[0] ?? '' }
}

const ROOT = { path: [] }

const bodyOf = (body: unknown): JsonObject => {
  if (isJsonObject(body) && !Array.isArray(body)) return body
  throw new GuardError('INVALID_TRACE', 'The body must be a JSON object.', { path: '' })
}

/** Run fields of a request, with checked ids and a resolved session. */
export const readRun = async (
  { gateway, project_id }: Ingest,
  record: JsonObject,
  records: BodyRecords,
): Promise<FragmentRun> => {
  const { failure_tag, ...rest } = record
  const present = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null && value !== undefined))
  const { session_id: label, ...about } = present
  const trace_id = about.trace_id ?? newTraceId(gateway.clock.now())
  const draft = checked('INVALID_TRACE', () =>
    runDraft({ ...about, trace_id, ...(failure_tag === undefined ? {} : { failure_tag }) }, ROOT),
  )
  const ids = idsIn(draft, records)
  const project = ids.project_id ?? project_id
  const sent = labelIn(label)
  const named = sent && records.storedId(sent, ROOT, 'session_id')
  const { writer } = record
  const session = named && (await namedSession(gateway.storage, project ?? 'default', named))
  return {
    ...draft,
    ...ids,
    ...(project === undefined ? {} : { project_id: project }),
    ...(session === undefined ? {} : { session_id: session }),
    ...(draft.tags === undefined ? {} : { tags: checkTags(draft.tags, '/tags') }),
    ...(failure_tag === null ? { failure_tag: null } : {}),
    ...(typeof writer === 'string' && WRITER.test(writer) ? { client_writer: writer } : {}),
  }
}

const IDS = ['trace_id', 'project_id', 'agent_id', 'task_id'] as const

/** Ids of a run as they are stored. Throws INVALID_ID. */
const idsIn = (draft: RunDraft, records: BodyRecords): Partial<Pick<RunDraft, (typeof IDS)[number]>> =>
  Object.fromEntries(
    IDS.flatMap((key) => {
      const id = draft[key]
      return typeof id === 'string' ? [[key, records.storedId(id, ROOT, key)]] : []
    }),
  )

/** Host and process id. */
const WRITER = /^[\w.-]{1,253}:\d{1,10}$/

const labelIn = (label: unknown): string | undefined => {
  if (label === undefined || (typeof label === 'string' && isSessionName(label))) return label
  throw new GuardError(traceFileErrors.INVALID_ID, '"session_id" must be 1 to 512 printable characters.', {
    path: '/session_id',
  })
}

const MAX_TAGS = 64
const TAG_CHARS = 64

/** Trims and deduplicates tags. Throws INVALID_TRACE for too many tags, or an invalid one. */
export const checkTags = (tags: readonly string[], path: string): readonly string[] => {
  const trimmed = [...new Set(tags.map((tag) => tag.trim()))]
  if (trimmed.length > MAX_TAGS)
    throw new GuardError('INVALID_TRACE', `A run has at most ${MAX_TAGS} tags, not ${trimmed.length}.`, { path })
  if (trimmed.some((tag) => tag === '' || tag.length > TAG_CHARS))
    throw new GuardError('INVALID_TRACE', `A tag has 1 to ${TAG_CHARS} characters.`, { path })
  return trimmed
}

/** The fragment of a client's request. */
export const clientFragment = (run: FragmentRun, records: BodyRecords): Fragment => ({
  owner: 'client',
  origin: 'api',
  run,
  spans: records.spans,
  events: records.events,
  artifacts: records.artifacts,
})

const keep = async ({ gateway, runWriter }: Ingest, run: FragmentRun, records: BodyRecords): Promise<TraceAnswer> => {
  const [kept] = await gateway.keep([clientFragment(run, records)]).catch((error: unknown) => {
    throw pointed(error, records)
  })
  if (kept === undefined) throw new TypeError('keep answers once a fragment')
  const { created, row } = runWriter.outcome(kept.fragment)
  return {
    trace_id: row.trace_id,
    created,
    run: runSummary(row),
    span_ids: records.spans.map(({ id }) => id),
    warnings: [...records.warnings, ...kept.warnings.map((warning) => pointedWarning(warning, records))],
    url: urlOf(row.trace_id),
  }
}

const PART = /^\/(spans|events|artifacts)\/(\d+)/

/** Converts a pointer into a fragment to a pointer into its request. */
const pointer = (path: string, { pointers }: BodyRecords): string =>
  path.replace(PART, (whole, kind: keyof BodyRecords['pointers'], index) => pointers[kind][Number(index)] ?? whole)

const pointedWarning = (warning: FragmentWarning, records: BodyRecords): Warning => ({
  ...warning,
  path: pointer(warning.path, records),
})

const pointed = (error: unknown, records: BodyRecords): unknown =>
  error instanceof GuardError && error.place.path !== undefined
    ? new GuardError(error.entry, error.message, {
        ...error.place,
        path: pointer(error.place.path, records),
        cause: error.cause,
      })
    : error
