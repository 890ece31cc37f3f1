import { type Clock, headerOf } from 'guard-gateway/core'
import { isShape, readJson, shapeOf } from 'guard-gateway/lib/json'
import type { ReceiverResponse } from './post.ts'

/** The result of one export request. */
export type ExportResult =
  /** Accepted but for `rejected` spans; `error`: why those were rejected, or a warning. */
  | { readonly kind: 'accepted'; readonly rejected: number; readonly error?: string }
  /** It may be accepted later; `wait_ms`: the delay that the receiver asks for, null if it gives none. */
  | { readonly kind: 'retryable'; readonly wait_ms: number | null; readonly error: string }
  | { readonly kind: 'rejected'; readonly error: string }

const RETRYABLE = new Set([429, 502, 503, 504])

/** Reads the response to a request of so many spans. A redirect is a rejection: nothing is sent to an address that is not configured. */
export const exportResult = (
  { status, headers, body }: ReceiverResponse,
  spans: number,
  clock: Clock,
): ExportResult => {
  const answer = parsed(body)
  if (status >= 200 && status < 300) return accepted(answer, spans)
  const error = `It answered ${status}${reasonText(shapeOf(answer).message)}.`
  if (RETRYABLE.has(status))
    return { kind: 'retryable', wait_ms: waitOf(headerOf(headers, 'retry-after'), clock), error }
  if (status < 400) return { kind: 'rejected', error: `It answered ${status}; redirects are not followed.` }
  return { kind: 'rejected', error }
}

const accepted = (answer: unknown, spans: number): ExportResult => {
  const { partialSuccess } = shapeOf(answer)
  if (!isShape(partialSuccess)) return { kind: 'accepted', rejected: 0 }
  const { rejectedSpans, errorMessage } = partialSuccess
  // 64-bit integers are digits in OTLP/JSON
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

/** `Retry-After`, as seconds or as a date, in milliseconds from now. */
const waitOf = (header: string | undefined, clock: Clock): number | null => {
  if (header === undefined) return null
  const wait = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - clock.now()
  return Number.isNaN(wait) ? null : wait
}
