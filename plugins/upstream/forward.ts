import {
  type Attempt,
  type Call,
  type Client,
  type Gateway,
  GuardError,
  headerOf,
  isEventStream,
  type Reply,
  type UpstreamRequest,
  type UpstreamResponse,
} from 'guard-gateway/core'
import { logins } from 'guard-gateway/lib/http'
import { bodyFor, type Sent } from './body.ts'
import { guardedPath, type Upstream } from './destination.ts'
import { inboundHeaders, outboundHeaders } from './headers.ts'
import type { LiveUpstreams } from './live.ts'
import { missingLogin, needsLogin } from './login.ts'
import { NoReply, Sending } from './request.ts'
import { UsageFilter } from './usage-filter.ts'
import { discard } from './whole-body.ts'

/** Statuses that say that another upstream may do better. */
const failing = new Set([500, 502, 503, 504, 529])

/** Sends calls to the upstream they were routed to, and to its fallbacks where the configuration names some. */
export const forwarder =
  (gateway: Gateway, live: LiveUpstreams) =>
  (call: Call, client: Client): Promise<Reply | undefined> | undefined => {
    const upstreams = live.current
    const upstream = call.upstream === null ? undefined : upstreams.get(call.upstream)
    if (upstream === undefined) return undefined
    const able = upstream.fallback.length === 0 ? [] : standIns(upstreams.fallbacks(upstream), call.style)
    const refused = missingLogin(gateway, upstream, call)
    if (refused !== undefined) throw refused
    const first: Try = { gateway, upstream, call, client, login: logins.get(call) ?? [], isLast: able.length === 0 }
    const attempts: Attempt[] = []
    const reply = attempt(first, attempts)
    return able.length === 0 ? reply : orFallback(reply, able, first, attempts)
  }

/** Those that can stand in: they speak the style, and need no login, which goes to the upstream that was chosen alone. */
const standIns = (upstreams: readonly Upstream[], style: string): readonly Upstream[] =>
  upstreams.filter((upstream) => upstream.styles.includes(style) && !needsLogin(upstream))

const orFallback = async (
  reply: Promise<Reply | undefined>,
  able: readonly Upstream[],
  first: Try,
  attempts: Attempt[],
): Promise<Reply | undefined> => {
  let found = await reply
  for (const [index, upstream] of able.entries()) {
    if (found !== undefined) return found
    // a login goes to the upstream that was chosen, never to one that stands in for it
    found = await attempt({ ...first, upstream, login: [], isLast: index === able.length - 1 }, attempts)
  }
  return found
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

/** Gives undefined if it failed and another upstream is to be tried. Rejects with NoReply if it was the last. */
const attempt = (tried: Try, attempts: Attempt[]): Promise<Reply | undefined> => {
  const { call, upstream } = tried
  const given = {
    bytes: call.steered_body ?? call.body,
    encoding: call.headers['content-encoding'],
    style: call.style,
    model: call.envelope.model,
    stream: call.envelope.stream,
  }
  const prepared = bodyFor(upstream, given)
  return prepared instanceof Promise
    ? prepared.then((sent) => asked(tried, sent, attempts))
    : asked(tried, prepared, attempts)
}

/** Sends it: by one promise, since each costs on the way of every request. */
const asked = (tried: Try, sent: Sent, attempts: Attempt[]): Promise<Reply | undefined> =>
  new Promise((resolve, reject) => {
    const { gateway, upstream, client, isLast } = tried
    const failed = (error: unknown): void => {
      const reason = error instanceof NoReply ? error.attempt : 'INTERNAL'
      attempts.push({ upstream: upstream.name, address: upstream.address, status: null, error: reason })
      if (isLast || client.gone || !(error instanceof NoReply)) reject(withAttempts(error, attempts))
      else resolve(undefined)
    }
    const answered = (response: UpstreamResponse): void => {
      const { status } = response
      attempts.push({ upstream: upstream.name, address: upstream.address, status, error: null })
      if (isLast || !failing.has(status)) resolve(replyOf(tried, response, attempts, sent))
      else {
        discard(response.body)
        resolve(undefined)
      }
    }
    new Sending(upstream, gateway.service('requests').get()?.bodies, answered, failed).begin(
      outgoing(tried, sent),
      client,
    )
  })

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
    upstream_request_id: headerOf(headers, 'request-id') ?? headerOf(headers, 'x-request-id') ?? null,
    on_disconnect: upstream.on_disconnect,
    ...(filtered ? { shown: new UsageFilter() } : {}),
  }
}

const isPlainEventStream = (response: UpstreamResponse): boolean =>
  (headerOf(response.headers, 'content-encoding') ?? 'identity') === 'identity' && isEventStream(response, true)
