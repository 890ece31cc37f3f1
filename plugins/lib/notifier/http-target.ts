import type { Clock } from 'guard-gateway/core'
import { post, type ReceiverResponse, retryAfterMs, upstreamAddress } from 'guard-gateway/lib/network'
import type { UpstreamClient } from 'guard-gateway/lib/upstream-client'
import type { Notification, NotifyResult, NotifyTarget } from './contract.ts'
import { errorText } from './error-text.ts'

const TIMEOUT_MS = 10_000
const REASON_CHARS = 120
/** What may go well later, beside 5xx: the request took too long, came too early, or was one too many. */
const RETRYABLE = new Set([408, 425, 429])

/** Where a receiver is reached. */
export interface HttpReceiver {
  /** Often a secret itself. */
  readonly url: string
  /** Address of the proxy on the way; `none` or absent: there is none. */
  readonly proxy?: string
  /** Authorities that are trusted beside those of Node: certificates as PEM. */
  readonly ca?: readonly string[]
}

/** The options of a receiver that is reached by HTTP, as members of an object schema; `url` is required. */
export const httpReceiverSchema = {
  url: { type: 'string', minLength: 1 },
  proxy: { type: 'string', minLength: 1 },
  ca: { type: 'array', items: { type: 'string', minLength: 1 } },
} as const

/** One POST with a JSON body. */
export interface JsonRequest {
  readonly body: string
  /** Beside `host`, `content-type` and `content-length`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A receiver reached by HTTP. */
export interface HttpTarget {
  readonly clock: Clock
  client(): UpstreamClient
}

/**
 * A receiver that takes each notification as one POST. 2xx is delivered; no answer, 408, 425, 429 and 5xx may be tried again, and the rest may not.
 * No redirect is followed, so that no receiver sends the gateway to another address. Throws TypeError for an address or a proxy that is none.
 */
export const httpTarget = (
  options: HttpReceiver,
  { clock, client }: HttpTarget,
  requestOf: (notification: Notification) => JsonRequest,
  path?: string,
): NotifyTarget => {
  const url = httpUrl(options.url)
  const limits = { connect_ms: TIMEOUT_MS, idle_ms: TIMEOUT_MS }
  const connections = client().connect(upstreamAddress(url, limits, options))
  return {
    // path and query often are the key that lets in
    shown: url.origin,
    async send(notification, signal) {
      const { body, headers = {} } = requestOf(notification)
      const bytes = Buffer.from(body)
      const own = ['host', url.host, 'content-type', 'application/json', 'content-length', String(bytes.length)]
      const request = {
        method: 'POST',
        path: path ?? url.pathname + url.search,
        headers: [...own, 'accept-encoding', 'identity', ...Object.entries(headers).flat()],
        body: bytes,
      }
      try {
        return resultOf(await post(connections, request, TIMEOUT_MS, signal), clock)
      } catch (error) {
        // a request that cannot be written never can
        return { outcome: error instanceof TypeError ? 'rejected' : 'retryable', error: errorText(error) }
      }
    },
    close: () => connections.close(),
  }
}

const httpUrl = (text: string): URL => {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new TypeError('url is no address that begins with http:// or https://')
  if (url.username !== '' || url.password !== '') throw new TypeError('url holds a user name or a password')
  return url
}

const resultOf = ({ status, headers, body }: ReceiverResponse, clock: Clock): NotifyResult => {
  if (status >= 200 && status < 300) return { outcome: 'delivered' }
  if (status < 400) return { outcome: 'rejected', error: `It answered ${status}; redirects are not followed.` }
  const reason = body.subarray(0, REASON_CHARS).toString().trim()
  const error = `It answered ${status}${reason === '' ? '' : `: ${reason}`}.`
  if (status < 500 && !RETRYABLE.has(status)) return { outcome: 'rejected', error }
  return { outcome: 'retryable', error, wait_ms: retryAfterMs(headers, clock) }
}
