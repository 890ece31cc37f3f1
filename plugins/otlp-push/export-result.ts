import type { Clock } from 'guard-gateway/core'
import { isJsonObject, jsonObjectOf, readJson } from 'guard-gateway/lib/json'
import { type ReceiverResponse, retryAfterMs } from 'guard-gateway/lib/network'

export type ExportResult =
  /** Accepted except for `rejected` spans. `error` is the reason, or a warning. */
  | { readonly kind: 'accepted'; readonly rejected: number; readonly error?: string }
  /** May be accepted later. `wait_ms` is the receiver's delay, null for none. */
  | { readonly kind: 'retryable'; readonly wait_ms: number | null; readonly error: string }
  | { readonly kind: 'rejected'; readonly error: string }

const RETRYABLE = new Set([429, 502, 503, 504])

/** Interprets the response to a request of `spans` spans. A redirect is a rejection, because nothing is sent to an unconfigured address. */
export const exportResult = (
  { status, headers, body }: ReceiverResponse,
  spans: number,
  clock: Clock,
): ExportResult => {
  const answer = parsed(body)
  if (status >= 200 && status < 300) return accepted(answer, spans)
  const error = `It answered ${status}${reasonText(jsonObjectOf(answer).message)}.`
  if (RETRYABLE.has(status)) return { kind: 'retryable', wait_ms: retryAfterMs(headers, clock), error }
  if (status < 400) return { kind: 'rejected', error: `It answered ${status}; redirects are not followed.` }
  return { kind: 'rejected', error }
}

const accepted = (answer: unknown, spans: number): ExportResult => {
  const { partialSuccess } = jsonObjectOf(answer)
  if (!isJsonObject(partialSuccess)) return { kind: 'accepted', rejected: 0 }
  const { rejectedSpans, errorMessage } = partialSuccess
  // int64 is text in OTLP/JSON
  const count = Math.trunc(Number(rejectedSpans))
  const rejected = count > 0 ? Math.min(count, spans) : 0
  const message = reasonText(errorMessage)
  if (rejected === 0 && message === '') return { kind: 'accepted', rejected }
  return { kind: 'accepted', rejected, error: `It took ${spans - rejected} of ${spans} spans${message}.` }
}

const reasonText = (message: unknown): string =>
  typeof message === 'string' && message !== '' ? `: ${message.replace(/\.$/, '')}` : ''

const parsed = (body: Buffer): unknown => {
  try {
    return readJson(body.toString())
  } catch {
    return undefined
  }
}
