/** A span of another process. */
export interface RemoteSpan {
  readonly trace_id: string
  readonly span_id: string
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
const ZEROS = /^0+$/

/** Parses a W3C `traceparent`; undefined if invalid. Only later versions than 00 may have extra fields. */
export const readTraceparent = (header: string): RemoteSpan | undefined => {
  const [, version, trace_id = '', span_id = '', more] = TRACEPARENT.exec(header.trim()) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  return ZEROS.test(trace_id) || ZEROS.test(span_id) ? undefined : { trace_id, span_id }
}

const TRACE_ID = /^[0-9a-f]{32}$/

/** W3C `traceparent` of a span; undefined if the trace id is not hex. */
export const traceparentOf = (trace_id: string, span_id: string): string | undefined =>
  TRACE_ID.test(trace_id) && !ZEROS.test(trace_id) ? `00-${trace_id}-${span_id}-01` : undefined
