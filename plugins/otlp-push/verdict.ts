import { type Clock, headerOf } from 'guard-gateway/core'
import { isShape, readJson, shapeOf } from 'guard-gateway/lib/json'
import type { Answer } from './request.ts'

/** What a receiver made of a request. */
export type Verdict =
  /** Taken, but for so many spans; `error` says why those were not, or what else it warns of. */
  | { readonly kind: 'taken'; readonly rejected: number; readonly error?: string }
  /** It may be taken later; `wait_ms` is how long the receiver asks to wait, null if it does not say. */
  | { readonly kind: 'later'; readonly wait_ms: number | null; readonly error: string }
  | { readonly kind: 'refused'; readonly error: string }

const AGAIN = new Set([429, 502, 503, 504])
/** Reads an answer to a request of so many spans. A redirect is a refusal: nothing is sent to where nobody configured it. */
export const verdictOf = ({ status, headers, body }: Answer, spans: number, clock: Clock): Verdict => {
  const said = parsed(body)
  if (status >= 200 && status < 300) return taken(said, spans)
  const error = `It answered ${status}${told(shapeOf(said).message)}.`
  if (AGAIN.has(status)) return { kind: 'later', wait_ms: waitOf(headerOf(headers, 'retry-after'), clock), error }
  if (status < 400) return { kind: 'refused', error: `It answered ${status}; redirects are not followed.` }
  return { kind: 'refused', error }
}

const taken = (said: unknown, spans: number): Verdict => {
  const { partialSuccess } = shapeOf(said)
  if (!isShape(partialSuccess)) return { kind: 'taken', rejected: 0 }
  const { rejectedSpans, errorMessage } = partialSuccess
  // 64-bit integers are digits in OTLP/JSON
  const count = Math.trunc(Number(rejectedSpans))
  const rejected = count > 0 ? Math.min(count, spans) : 0
  const message = told(errorMessage)
  if (rejected === 0 && message === '') return { kind: 'taken', rejected }
  return { kind: 'taken', rejected, error: `It took ${spans - rejected} of ${spans} spans${message}.` }
}

const told = (message: unknown): string =>
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
