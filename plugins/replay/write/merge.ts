import {
  type Attributes,
  type FragmentArtifact,
  type FragmentEvent,
  GuardError,
  type Owner,
  type SpanDraft,
} from 'guard-gateway/core'
import { writeJson } from '#lib/json'
import { traceFileErrors } from '#lib/trace-file'
import type { ArtifactRow, EventRow, SpanRow } from '../tables.ts'
import { labelOf, mergedKind, modelUse } from './kind.ts'

/** The owner, run and time of a write; nanoseconds since 1970. */
export interface WriteContext {
  readonly trace_id: string
  readonly owner: Owner
  readonly now_ns: bigint
}

/** A record after and before the merge; an unchanged one is not written. */
export interface Merged<R> {
  readonly row: R
  readonly old: R | undefined
  readonly changed: boolean
}

/** The records after the merge. */
export const rowsOf = <R>(records: readonly Merged<R>[]): readonly R[] => records.map(({ row }) => row)

const merged = <R>(row: R, old: R | undefined): Merged<R> => ({
  row,
  old,
  changed: old === undefined || writeJson(row) !== writeJson(old),
})

/** Merges key by key; returns the same object if nothing is new. */
export const mergedAttributes = (old: Attributes | undefined, more: Attributes | undefined): Attributes =>
  old === undefined ? (more ?? {}) : more === undefined ? old : { ...old, ...more }

/** Merges a draft into a span. A new span gets the times that its writer left out. Throws INVALID_TIME. */
export const mergeSpan = (
  draft: SpanDraft,
  old: SpanRow | undefined,
  context: WriteContext,
  path: string,
): Merged<SpanRow> => {
  const attributes = mergedAttributes(old?.attributes, draft.attributes)
  const kind = mergedKind(draft, old, attributes)
  const status = draft.status ?? statusOf(draft, old)
  const start_ns = draft.start_ns ?? old?.start_ns ?? draft.end_ns ?? context.now_ns
  const end_ns = endOf(draft, old, status, start_ns, context.now_ns)
  if (end_ns !== null && end_ns < start_ns)
    throw new GuardError(traceFileErrors.INVALID_TIME, `Span "${draft.id}" ends before it starts.`, {
      path: `${path}/end_ns`,
    })
  const row: SpanRow = {
    trace_id: context.trace_id,
    id: draft.id,
    parent_id: draft.parent_id === undefined ? (old?.parent_id ?? null) : draft.parent_id,
    name: draft.name,
    kind,
    label: labelOf(attributes),
    status,
    status_message: draft.status_message === undefined ? messageOf(old, status) : draft.status_message,
    start_ns,
    end_ns,
    owner: context.owner === 'client' ? (old?.owner ?? 'client') : context.owner,
    ...modelUse(kind, attributes),
    attributes,
  }
  return merged(row, old)
}

/** The message of spans that maintenance ended after their writer exited. A client that continues such a span clears it. */
export const WRITER_GONE = 'its writer went before the span ended'

const messageOf = (old: SpanRow | undefined, status: string): string | null =>
  old === undefined || (old.status_message === WRITER_GONE && status !== 'error') ? null : old.status_message

/** The status if the writer gives none: a running span that gets an end is `ok`. */
const statusOf = ({ end_ns }: SpanDraft, old: SpanRow | undefined): string =>
  old === undefined || (old.status === 'running' && typeof end_ns === 'bigint') ? 'ok' : old.status

const endOf = (
  draft: SpanDraft,
  old: SpanRow | undefined,
  status: string,
  start_ns: bigint,
  now_ns: bigint,
): bigint | null => {
  if (draft.end_ns !== undefined) return draft.end_ns
  // a client may continue a span that maintenance has ended
  if (status === 'running') return old?.status_message === WRITER_GONE ? null : (old?.end_ns ?? null)
  if (old === undefined) return start_ns
  // it ends now
  return old.end_ns ?? (now_ns > start_ns ? now_ns : start_ns)
}

/** Merges a draft into an event. An event without a time gets `end_ns`, else the time of the write. */
export const mergeEvent = (
  draft: FragmentEvent,
  old: EventRow | undefined,
  context: WriteContext,
  end_ns: bigint | undefined,
): Merged<EventRow> =>
  merged(
    {
      trace_id: context.trace_id,
      id: draft.id,
      span_id: draft.span_id ?? old?.span_id ?? null,
      name: draft.name,
      time_ns: draft.time_ns ?? old?.time_ns ?? end_ns ?? context.now_ns,
      severity: draft.severity ?? old?.severity ?? (draft.name === 'exception' ? 'error' : 'info'),
      owner: context.owner === 'client' ? (old?.owner ?? 'client') : context.owner,
      request_id: draft.request_id === undefined ? (old?.request_id ?? null) : draft.request_id,
      attributes: mergedAttributes(old?.attributes, draft.attributes),
    },
    old,
  )

/** Merges a draft into artifact metadata. */
export const mergeArtifact = (
  draft: FragmentArtifact,
  old: ArtifactRow | undefined,
  { trace_id }: WriteContext,
): Merged<ArtifactRow> =>
  merged(
    {
      trace_id,
      id: draft.id,
      span_id: draft.span_id === undefined ? (old?.span_id ?? null) : draft.span_id,
      path: draft.path,
      mime_type: draft.mime_type === undefined ? (old?.mime_type ?? null) : draft.mime_type,
      size: draft.size === undefined ? (old?.size ?? null) : draft.size,
      sha256: draft.sha256 === undefined ? (old?.sha256 ?? null) : draft.sha256,
      attributes: mergedAttributes(old?.attributes, draft.attributes),
    },
    old,
  )
