import type { ArtifactDraft, EventDraft, RunDraft, SpanDraft } from 'guard-gateway/core'
import { isJsonObject, type JsonObject } from '#lib/json'
import { traceFileErrors } from '../error-codes.ts'
import {
  attributesField,
  countField,
  failureTagField,
  idField,
  kindField,
  nameField,
  needField,
  nsField,
  orNull,
  readFields,
  severityField,
  statusField,
  tagsField,
  textField,
} from './fields.ts'
import { ImportFault, type ImportLocation, memberLocation } from './import-fault.ts'

/** A record of an import file and where it is. */
export interface LocatedRecord<T> {
  readonly record: T
  readonly place: ImportLocation
}

/** The value as an object; throws ImportFault if it is none. */
export const recordAt = (value: unknown, place: ImportLocation): JsonObject => {
  if (isJsonObject(value)) return value
  throw new ImportFault(traceFileErrors.INVALID_IMPORT, 'There must be an object here.', place)
}

/** The elements of an array member with their places; none if the member is absent. Throws ImportFault for another value. */
export function* elementsOf(
  record: JsonObject,
  key: string,
  place: ImportLocation,
): Generator<LocatedRecord<JsonObject>> {
  const list = Object.hasOwn(record, key) ? record[key] : undefined
  if (list === undefined || list === null) return
  if (!Array.isArray(list)) {
    throw new ImportFault(traceFileErrors.INVALID_IMPORT, `"${key}" must be an array.`, memberLocation(place, key))
  }
  for (const [index, value] of list.entries()) {
    const at = memberLocation(place, key, index)
    yield { record: recordAt(value, at), place: at }
  }
}

const SCHEMA = 'trace.v1'

/** Throws ImportFault unless the record is of the one schema there is. */
export const needSchema = (record: JsonObject, place: ImportLocation): void => {
  if (record.schema === SCHEMA) return
  throw new ImportFault(
    traceFileErrors.UNKNOWN_SCHEMA,
    record.schema === undefined
      ? `"schema" is missing; ${SCHEMA} is known.`
      : `This schema is not known; ${SCHEMA} is.`,
    record.schema === undefined ? place : memberLocation(place, 'schema'),
  )
}

const runFields = {
  trace_id: idField,
  id: idField,
  project_id: idField,
  session_id: orNull(idField),
  agent_id: orNull(idField),
  task_id: orNull(textField),
  agent_name: orNull(textField),
  name: orNull(textField),
  status: statusField,
  failure_tag: orNull(failureTagField),
  start_ns: nsField,
  end_ns: orNull(nsField),
  tags: tagsField,
  attributes: attributesField,
}

/** The run of a file. A derived tag is left out, so that it is derived again. */
export const runDraft = (record: JsonObject, place: ImportLocation): RunDraft => {
  const { id, failure_tag, ...given } = readFields(runFields, record, place)
  const trace_id = needField(given.trace_id ?? id, 'trace_id', place)
  const draft = { ...given, trace_id }
  return failure_tag === undefined || failure_tag === null || record.failure_tag_source === 'derived'
    ? draft
    : { ...draft, failure_tag }
}

const spanFields = {
  id: idField,
  parent_id: orNull(idField),
  declared_parent_id: orNull(idField),
  name: nameField,
  kind: kindField,
  status: statusField,
  status_message: orNull(textField),
  start_ns: nsField,
  end_ns: orNull(nsField),
  attributes: attributesField,
}

/** The attribute that keeps a parent which is not in the run. */
const ORIGINAL_PARENT = 'import.original_parent_id'

/** The span with the parent that it named kept as an attribute. */
export const withOriginalParent = (span: SpanDraft, parent_id: string): SpanDraft => ({
  ...span,
  attributes: { [ORIGINAL_PARENT]: parent_id, ...span.attributes },
})

/** The span of a file; a parent that does not exist becomes an attribute. */
export const spanDraft = (record: JsonObject, place: ImportLocation): SpanDraft => {
  const { id, name, declared_parent_id, ...given } = readFields(spanFields, record, place)
  const span = { ...given, id: needField(id, 'id', place), name: needField(name, 'name', place) }
  return declared_parent_id === undefined || declared_parent_id === null
    ? span
    : withOriginalParent(span, declared_parent_id)
}

const eventFields = {
  id: idField,
  span_id: orNull(idField),
  name: nameField,
  time_ns: nsField,
  severity: severityField,
  request_id: orNull(idField),
  attributes: attributesField,
}

/** The event of a file; `span_id` is that of the span that it is in, if it is in one. */
export const eventDraft = (record: JsonObject, place: ImportLocation, span_id: string | null = null): EventDraft => {
  const values = readFields(eventFields, record, place)
  return { ...values, name: needField(values.name, 'name', place), span_id: span_id ?? values.span_id ?? null }
}

const artifactFields = {
  id: idField,
  span_id: orNull(idField),
  path: nameField,
  mime_type: orNull(textField),
  size: orNull(countField),
  sha256: orNull(textField),
  attributes: attributesField,
}

const contentMembers = ['content', 'contents', 'data', 'body', 'base64']

/** The artifact metadata of a file; throws ImportFault for one that carries its content. */
export const artifactDraft = (record: JsonObject, place: ImportLocation): ArtifactDraft => {
  const content = contentMembers.find((member) => Object.hasOwn(record, member))
  if (content !== undefined) {
    throw new ImportFault(
      traceFileErrors.ARTIFACT_CONTENT,
      `An artifact is metadata alone; remove "${content}".`,
      memberLocation(place, content),
    )
  }
  const values = readFields(artifactFields, record, place)
  if (typeof values.sha256 === 'string' && !/^[0-9a-f]{64}$/.test(values.sha256)) {
    throw new ImportFault(
      traceFileErrors.INVALID_IMPORT,
      '"sha256" must be 64 lower-case hex digits.',
      memberLocation(place, 'sha256'),
    )
  }
  return { ...values, path: needField(values.path, 'path', place) }
}
