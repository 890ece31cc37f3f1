import { hostname } from 'node:os'
import { cutText } from 'guard-gateway/text'
import type { Batch, Entry } from './backlog.ts'
import type { Cleaner, Path } from './cleaner.ts'
import type { Recording } from './recording.ts'
import type { ArtifactRecord, EventRecord, SpanRecord } from './records.ts'

/** Limits of the gateway, in UTF-16 units. */
const NAME_CHARS = 256
const MESSAGE_CHARS = 2_000
const PATH_CHARS = 4_096
const STACK_CHARS = 4_000
const TAG_CHARS = 64
const MAX_TAGS = 64

/** A request body, and the records at each position in it. */
export interface Encoded {
  readonly body: string
  /** Entries by index in `spans` and `events`. The first span is the root, which has no entry. */
  readonly spans: readonly (Entry | undefined)[]
  readonly events: readonly (Entry | undefined)[]
}

/** Encodes a batch as a request body. Every record has its id, so that a retry adds nothing twice. */
export const encode = ({ recording, entries, last }: Batch, cleaner: Cleaner): Encoded => {
  const spans: (Entry | undefined)[] = [undefined]
  const events: Entry[] = []
  const open = recording.root.end_ns === undefined || !last
  const body = { ...head(recording, cleaner, open), spans: [root(recording, cleaner, open)], events: [] as object[] }
  const artifacts: object[] = []
  for (const entry of entries) {
    const { record } = entry
    if (record.kind === 'span') {
      spans.push(entry)
      body.spans.push(spanJson(record, cleaner))
    } else if (record.kind === 'event') {
      events.push(entry)
      body.events.push(eventJson(record, cleaner))
    } else if (record.kind === 'artifact') artifacts.push(artifactJson(record, cleaner))
  }
  return { body: JSON.stringify(artifacts.length === 0 ? body : { ...body, artifacts }), spans, events }
}

/** The fields of the run. A continued run keeps the fields that its own process sets. */
const head = (recording: Recording, cleaner: Cleaner, open: boolean): object => {
  const { info, root: span } = recording
  const tags = cleanTags(recording.tags, cleaner)
  const common = {
    trace_id: info.trace_id,
    project_id: info.project,
    tags: tags.length === 0 ? undefined : tags,
    failure_tag: recording.failureTag,
  }
  if (info.remote_parent !== undefined) return common
  return {
    ...common,
    session_id: info.session_id,
    task_id: optional(info.task_id, NAME_CHARS, ['task_id'], cleaner),
    agent_name: optional(info.agent, NAME_CHARS, ['agent_name'], cleaner),
    name: nameText(info.name, ['name'], cleaner),
    // the gateway uses it to detect that the client has exited
    writer: open ? `${hostname()}:${process.pid}` : undefined,
    status: open ? 'running' : span.status,
    attributes: cleaner.attributes(span.attributeSet, ['attributes']),
  }
}

const root = (recording: Recording, cleaner: Cleaner, open: boolean): object => {
  const json = spanJson(recording.root, cleaner)
  return open ? { ...json, status: 'running', status_message: undefined, end_ns: undefined } : json
}

const cleanTags = (tags: ReadonlySet<string>, cleaner: Cleaner): readonly string[] => {
  const clean = [...tags].map((tag) => cleaner.text(tag, TAG_CHARS, ['tags']).trim())
  return [...new Set(clean.filter((tag) => tag !== ''))].slice(0, MAX_TAGS)
}

const optional = (text: string | undefined, max: number, path: Path, cleaner: Cleaner): string | undefined =>
  text === undefined ? undefined : cleaner.text(text, max, path)

/** The gateway refuses records without a name. */
const nameText = (name: string, path: Path, cleaner: Cleaner): string =>
  cleaner.text(name, NAME_CHARS, path) || 'unnamed'

const spanJson = (span: SpanRecord, cleaner: Cleaner): object => ({
  id: span.id,
  parent_id: span.parent_id,
  name: nameText(span.name, ['span', 'name'], cleaner),
  status: span.status,
  status_message: optional(span.message, MESSAGE_CHARS, ['span', 'status_message'], cleaner),
  start_ns: String(span.start_ns),
  end_ns: span.end_ns === undefined ? undefined : String(span.end_ns),
  attributes: cleaner.attributes(span.attributeSet, ['span', 'attributes']),
})

const eventJson = (event: EventRecord, cleaner: Cleaner): object => {
  const attributes = cleaner.attributes(event.attributeSet, ['event', 'attributes'])
  const stack = attributes?.['exception.stacktrace']
  return {
    id: event.id,
    span_id: event.span_id,
    name: nameText(event.name, ['event', 'name'], cleaner),
    time_ns: String(event.time_ns),
    severity: event.severity,
    attributes:
      typeof stack === 'string' ? { ...attributes, 'exception.stacktrace': cutText(stack, STACK_CHARS) } : attributes,
  }
}

const artifactJson = (artifact: ArtifactRecord, cleaner: Cleaner): object => ({
  id: artifact.id,
  span_id: artifact.span_id,
  path: cleaner.text(artifact.path, PATH_CHARS, ['artifact', 'path']),
  mime_type: optional(artifact.mime_type, NAME_CHARS, ['artifact', 'mime_type'], cleaner),
  size: artifact.size,
  sha256: artifact.sha256,
  attributes: cleaner.attributes(artifact.attributeSet, ['artifact', 'attributes']),
})
