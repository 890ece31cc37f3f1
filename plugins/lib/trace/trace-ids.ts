import { randomBytes } from 'node:crypto'

/** Unique to this process; what follows it counts up, so that no id needs a system call. */
const PROCESS = randomBytes(6).toString('hex')
const SPAN_PROCESS = randomBytes(4).toString('hex')
let traces = 0
let spans = 0

const hex = (value: number, length: number): string => value.toString(16).padStart(length, '0')
const next = (value: number): number => (value + 1) % 0x1_0000_0000

/** A W3C trace id, 32 hex digits that sort by time of making; `now` is milliseconds since 1970. */
export const newTraceId = (now: number): string => {
  traces = next(traces)
  return hex(now, 12) + hex(traces, 8) + PROCESS
}

/** A W3C span id, 16 hex digits. */
export const newSpanId = (): string => {
  spans = next(spans)
  return SPAN_PROCESS + hex(spans, 8)
}

/** Version 00 ends after its flags, later ones may continue; ff is none. */
const TRACEPARENT = /^(?!ff|00.{54})[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/

/** Trace id and span id of a W3C `traceparent` header; undefined if it is none that counts. */
export const readTraceparent = (
  header: string | undefined,
): { readonly trace_id: string; readonly span_id: string } | undefined => {
  const match = header === undefined ? null : TRACEPARENT.exec(header)
  const [, trace_id = '', span_id = ''] = match ?? []
  return /[^0]/.test(trace_id) && /[^0]/.test(span_id) ? { trace_id, span_id } : undefined
}
