import type { TraceSpan } from '#lib/trace'
import { isFailed } from './span-time.ts'

/** As much of a span as tells of its failure. */
export interface FailedSpan extends Pick<TraceSpan, 'status' | 'status_message'> {
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly { readonly attributes: Readonly<Record<string, unknown>> }[]
}

/** What a span says of its failure: its message, its exception, or status code and type of its error, as `529 overloaded_error`. */
export const errorOf = (span: FailedSpan): string | undefined => {
  const { attributes, events } = span
  const exception = events.map((event) => textIn(event.attributes['exception.message'])).find(Boolean)
  const message = textIn(span.status_message) ?? exception ?? textIn(attributes['error.message'])
  if (message !== undefined || !isFailed(span)) return message
  const parts = [attributes['http.response.status_code'], attributes['error.type']].filter(
    (part) => part !== undefined && part !== null,
  )
  return parts.length === 0 ? undefined : parts.map(String).join(' ')
}

/** A text that is not empty. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined
