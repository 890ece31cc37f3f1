import { type Clock, contribution, Kind, type Notice, type Plugin, type Redactor } from 'guard-gateway/core'
import type { Static, TSchema } from 'typebox'
import {
  connectionFault,
  post,
  type ReceiverResponse,
  retryAfterMs,
  type UpstreamRoute,
  upstreamAddress,
} from '#lib/network'
import { cutBeforeRedaction, cutText, sanitise, terminalLine } from '#lib/text'
import type { UpstreamClient } from '#lib/upstream-client'

const TEXT_CHARS = 400
const NAME_CHARS = 200
const PATH_CHARS = 500
const LOOKED_AT_CHARS = 4_000

/** A notice as it may be shown: redacted, each text on one line and cut, its path one of our own pages. */
export const cleanNotice = (redact: Redactor, notice: Notice): Required<Notice> => {
  const clean = (text: string, chars: number): string => {
    const line = terminalLine(sanitise(cutBeforeRedaction(text, LOOKED_AT_CHARS)))
    return cutText(redact.text(line), chars)
  }
  const project_id = notice.project_id ?? null
  return {
    event: cutText(notice.event.replaceAll(/[^\w.-]/g, '_'), NAME_CHARS),
    subject: clean(notice.subject, NAME_CHARS),
    text: clean(notice.text, TEXT_CHARS),
    path: pathOf(clean(notice.path, PATH_CHARS)),
    project_id: project_id === null ? null : clean(project_id, NAME_CHARS),
  }
}

/** What a plugin gives is no address of elsewhere. */
const pathOf = (path: string): string => {
  const url = URL.parse(path, ORIGIN)
  return url?.origin === ORIGIN ? url.pathname + url.search + url.hash : '/'
}
const ORIGIN = 'http://guard.invalid'

const TIMEOUT_MS = 10_000
const REASON_CHARS = 120
/** What may go well later, beside 5xx: the request took too long, came too early, or was one too many. */
const RETRYABLE = new Set([408, 425, 429])

/** Where a receiver is reached. */
export interface HttpReceiver extends UpstreamRoute {
  /** Often a secret itself. */
  readonly url: string
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
    label: url.origin,
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

/** Why an attempt got no answer, in words. */
export const errorText = (error: unknown): string => {
  const { what, fix } = connectionFault(error as NodeJS.ErrnoException)
  return `It could not be asked: ${what}.${fix === undefined ? '' : ` ${fix}`}`
}

/** A notice on its way to a receiver: redacted, each text on one line and cut. */
export interface Notification extends Required<Notice> {
  /** The same at each attempt; letters, digits and `_`. */
  readonly id: string
  /** When it happened, milliseconds since 1970. */
  readonly at: number
  /** The whole address of the page; empty where nobody knows that of the gateway. */
  readonly url: string
  /** How many notices it stands for. */
  readonly count: number
}
/** What became of an attempt. `wait_ms`: what the receiver asks for. */
export type NotifyResult =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'retryable' | 'rejected'; readonly error: string; readonly wait_ms?: number | null }
/** A configured receiver. */
export interface NotifyTarget {
  /** How people read of it, without secrets. */
  readonly label: string
  /** One attempt. One that rejects may be tried again; `signal` ends it, also for taking too long. */
  send(notification: Notification, signal: AbortSignal): Promise<NotifyResult>
  close?(): void
}
/** A way to tell people; `notifier` of a receiver chooses it, and `schema` says what else stands there, `secrets` which of it is secret. */
export interface Notifier<Options extends TSchema = TSchema> {
  readonly id: string
  readonly schema: Options
  readonly secrets?: readonly string[]
  /** Throws TypeError for options that cannot be used. `env`: of children, what programs need to run and no more. `client` throws MISSING_PLUGIN where nothing speaks HTTP. */
  connect(
    options: Static<Options>,
    of: { readonly clock: Clock; env(): Readonly<Record<string, string>>; client(): UpstreamClient },
  ): NotifyTarget
}

export const notifierKind = new Kind<Notifier>('notifier', { schema: 'object', 'secrets?': 'list', connect: 'prompt' })

const notifierContribution = contribution('notifier', notifierKind)

/** A notifier whose options take their type from the schema beside them. */
export const notifier = <O extends TSchema = TSchema>(entry: Notifier<O>): Notifier<O> & Plugin =>
  notifierContribution(entry as Notifier) as unknown as Notifier<O> & Plugin
