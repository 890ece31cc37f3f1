import {
  type Attempt,
  type Call,
  type Client,
  type Gateway,
  GuardError,
  headerOf,
  isEventStream,
  logins,
  type Reply,
  type UpstreamRequest,
  type UpstreamResponse,
} from 'guard-gateway/core'
import { bodyFor, type Sent } from './body.ts'
import { guardedPath, type Upstream } from './destination.ts'
import { inboundHeaders, outboundHeaders } from './headers.ts'
import type { LiveUpstreams } from './live.ts'
import { NoReply, send } from './request.ts'
import { UsageFilter } from './usage-filter.ts'
import { discard } from './whole-body.ts'

/** Statuses that say that another upstream may do better. */
const failing = new Set([500, 502, 503, 504, 529])

/** Headers in which providers name a request, in lower case. */
const requestIds = ['request-id', 'x-request-id']

/** Sends calls to the upstream they were routed to, and to its fallbacks where the configuration names some. */
export const forwarder =
  (gateway: Gateway, live: LiveUpstreams) =>
  async (call: Call, client: Client): Promise<Reply | undefined> => {
    const upstreams = live.current
    const first = call.upstream === null ? undefined : upstreams.get(call.upstream)
    if (first === undefined) return undefined
    const attempts: Attempt[] = []
    // a login goes to the upstream that was chosen, never to one that stands in for it
    let login = logins.get(call) ?? []
    const able = upstreams.fallbacks(first).filter(({ styles }) => styles.includes(call.style))
    for (const [index, upstream] of [first, ...able].entries()) {
      const isLast = index === able.length
      const reply = await attempt({ gateway, upstream, call, client, login, isLast }, attempts)
      if (reply !== undefined) return reply
      login = []
    }
    return undefined
  }

/** One try at one upstream. */
interface Try {
  readonly gateway: Gateway
  readonly upstream: Upstream
  readonly call: Call
  readonly client: Client
  readonly login: readonly string[]
  /** Whatever comes of it is the answer. */
  readonly isLast: boolean
}

/** Gives undefined if it failed and another upstream is to be tried. Throws NoReply if it was the last. */
const attempt = async (tried: Try, attempts: Attempt[]): Promise<Reply | undefined> => {
  const { upstream, call, client, isLast } = tried
  const given = {
    bytes: call.steered_body ?? call.body,
    encoding: call.headers['content-encoding'],
    style: call.style,
    ...call.envelope,
  }
  const prepared = bodyFor(upstream, given)
  const sent = prepared instanceof Promise ? await prepared : prepared
  try {
    const response = await send(upstream, outgoing(tried, sent), client)
    const { status } = response
    attempts.push({ upstream: upstream.name, address: upstream.address, status, error: null })
    if (isLast || !failing.has(status)) return replyOf(tried, response, attempts, sent)
    discard(response.body)
  } catch (error) {
    const reason = error instanceof NoReply ? error.attempt : 'INTERNAL'
    attempts.push({ upstream: upstream.name, address: upstream.address, status: null, error: reason })
    if (isLast || client.gone || !(error instanceof NoReply)) throw withAttempts(error, attempts)
  }
  return undefined
}

const withAttempts = (error: unknown, attempts: readonly Attempt[]): unknown =>
  error instanceof GuardError
    ? new GuardError(error.code, error.message, { ...error.place, cause: error, attempts })
    : error

const outgoing = ({ gateway, upstream, call, login }: Try, sent: Sent): UpstreamRequest => {
  const { raw_headers: raw, style, query } = call
  const outbound = { raw, login, style, length: sent.bytes.length }
  return {
    method: 'POST',
    path: guardedPath(upstream, style, call.path, query),
    headers: outboundHeaders(upstream.rules, outbound, gateway.secrets),
    body: sent.bytes,
  }
}

const replyOf = (
  { gateway, upstream }: Try,
  response: UpstreamResponse,
  attempts: readonly Attempt[],
  sent: Sent,
): Reply => {
  const filtered = sent.asked_usage && isPlainEventStream(response)
  const headers = inboundHeaders(response.headers, gateway.secrets, !filtered)
  return {
    status: response.status,
    headers,
    body: response.body,
    upstream: upstream.name,
    attempts,
    upstream_request_id: requestIds.map((name) => headerOf(headers, name)).find((id) => id !== undefined) ?? null,
    on_disconnect: upstream.on_disconnect,
    ...(filtered ? { shown: new UsageFilter() } : {}),
  }
}

const isPlainEventStream = (response: UpstreamResponse): boolean =>
  (headerOf(response.headers, 'content-encoding') ?? 'identity') === 'identity' && isEventStream(response, true)
