import type { Attributes } from 'guard-gateway/core'
import type { JsonObject } from '#lib/json'
import { toAnyValue } from './values.ts'

/** A span of another format, before it has the shape of OTLP/JSON. */
export interface SpanParts {
  /** 32 hex digits. */
  readonly trace_id: string
  /** 16 hex digits, as are those of parents and links. */
  readonly span_id: string
  readonly parent_id?: string | null
  readonly name: string
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind?: number
  /** Unknown where absent. */
  readonly start_ns?: bigint
  /** The span has not ended where absent. */
  readonly end_ns?: bigint
  /** It failed; null: nobody says why. */
  readonly error?: string | null
  readonly attributes: Attributes
  readonly events?: readonly { readonly name: string; readonly time_ns: bigint; readonly attributes: Attributes }[]
  readonly links?: readonly { readonly trace_id: string; readonly span_id: string }[]
}

/** Attributes in the shape of OTLP/JSON; those that are null or undefined are left out. */
export const otlpAttributes = (attributes: Attributes): JsonObject => ({
  attributes: Object.entries(attributes)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => ({ key, value: toAnyValue(value) })),
})

/** The span in the shape of OTLP/JSON. */
export const otlpSpanJson = (span: SpanParts): JsonObject => ({
  traceId: span.trace_id,
  spanId: span.span_id,
  ...(typeof span.parent_id === 'string' ? { parentSpanId: span.parent_id } : {}),
  name: span.name,
  kind: span.kind ?? 1,
  startTimeUnixNano: String(span.start_ns ?? 0n),
  endTimeUnixNano: String(span.end_ns ?? 0n),
  ...(span.error === undefined ? {} : { status: { code: 2, ...(span.error === null ? {} : { message: span.error }) } }),
  ...otlpAttributes(span.attributes),
  ...(span.events === undefined
    ? {}
    : {
        events: span.events.map(({ name, time_ns, attributes }) => ({
          name,
          timeUnixNano: String(time_ns),
          ...otlpAttributes(attributes),
        })),
      }),
  ...(span.links === undefined
    ? {}
    : { links: span.links.map(({ trace_id, span_id }) => ({ traceId: trace_id, spanId: span_id })) }),
})
