import type { Clock } from 'guard-gateway/core'
import { isJsonObject, jsonObjectOf, readJson } from '#lib/json'
import { type ReceiverResponse, retryAfterMs } from '#lib/network'

export type ExportResult =
  /** Accepted except for so many `rejected`. `error` is the reason, or a warning. */
  | { readonly kind: 'accepted'; readonly rejected: number; readonly error?: string }
  /** May be accepted later. `wait_ms` is the receiver's delay, null for none. */
  | { readonly kind: 'retryable'; readonly wait_ms: number | null; readonly error: string }
  | { readonly kind: 'rejected'; readonly error: string }

const RETRYABLE = new Set([429, 502, 503, 504])

/** What an OTLP signal calls its parts. */
export interface Signal {
  readonly default_path: '/v1/traces' | '/v1/logs'
  readonly rejected: 'rejectedSpans' | 'rejectedLogRecords'
  /** `spans` */
  readonly parts: string
}

/** Interprets the response to a request of so many parts. A redirect is a rejection, because nothing is sent to an unconfigured address. */
export const exportResult = (
  { status, headers, body }: ReceiverResponse,
  count: number,
  signal: Signal,
  clock: Clock,
): ExportResult => {
  const answer = parsed(body)
  if (status >= 200 && status < 300) return accepted(answer, count, signal)
  const error = `It answered ${status}${reasonText(jsonObjectOf(answer).message)}.`
  if (RETRYABLE.has(status)) return { kind: 'retryable', wait_ms: retryAfterMs(headers, clock), error }
  if (status < 400) return { kind: 'rejected', error: `It answered ${status}; redirects are not followed.` }
  return { kind: 'rejected', error }
}

const accepted = (answer: unknown, count: number, signal: Signal): ExportResult => {
  const { partialSuccess } = jsonObjectOf(answer)
  if (!isJsonObject(partialSuccess)) return { kind: 'accepted', rejected: 0 }
  // int64 is text in OTLP/JSON
  const reported = Math.trunc(Number(partialSuccess[signal.rejected]))
  const rejected = reported > 0 ? Math.min(reported, count) : 0
  const message = reasonText(partialSuccess.errorMessage)
  if (rejected === 0 && message === '') return { kind: 'accepted', rejected }
  return { kind: 'accepted', rejected, error: `It took ${count - rejected} of ${count} ${signal.parts}${message}.` }
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
