import {
  type Attempt,
  type Call,
  type Client,
  errorOrigin,
  type Gateway,
  GuardError,
  headerOf,
  isEventStream,
  noteErrorOrigin,
  type Reply,
} from 'guard-gateway/core'
import { clientCredentials } from 'guard-gateway/lib/http'
import type { UpstreamRequest, UpstreamResponse } from 'guard-gateway/lib/upstream-client'
import { bodyFor, type OutboundBody } from './body.ts'
import { clientResponseHeaders, upstreamRequestHeaders } from './headers.ts'
import type { LiveUpstreams } from './live-upstreams.ts'
import { missingLogin, needsLogin } from './login.ts'
import { amended } from './outbound.ts'
import { discard } from './read-body.ts'
import { guardedPath, type Upstream } from './upstream.ts'
import { NoReply, send } from './upstream-attempt.ts'
import { UsageFilter } from './usage-filter.ts'

/** Statuses that say that another upstream may do better. */
const retryableStatuses = new Set([500, 502, 503, 504, 529])

/** Sends calls to the upstream they were routed to, and to its fallbacks where the configuration names some. */
export const forwardHandler =
  (gateway: Gateway, live: LiveUpstreams) =>
  (call: Call, client: Client): Promise<Reply | undefined> | undefined => {
    const upstreams = live.current
    const upstream = call.upstream === null ? undefined : upstreams.get(call.upstream)
    if (upstream === undefined) return undefined
    const candidates =
      upstream.fallback.length === 0 ? [] : fallbackCandidates(upstreams.fallbacks(upstream), call.style)
    const refused = missingLogin(gateway, upstream, call)
    if (refused !== undefined) throw refused
    const first: AttemptContext = {
      gateway,
      upstream,
      call,
      client,
      login: clientCredentials.get(call) ?? [],
      isLast: candidates.length === 0,
    }
    const attempts: Attempt[] = []
    const reply = attempt(first, attempts)
    return candidates.length === 0 ? reply : withFallbacks(reply, candidates, first, attempts)
  }

/** Those that can be in: they speak the style, and need no login, which goes to the upstream that was chosen alone. */
const fallbackCandidates = (upstreams: readonly Upstream[], style: string): readonly Upstream[] =>
  upstreams.filter((upstream) => upstream.styles.includes(style) && !needsLogin(upstream))

const withFallbacks = async (
  reply: Promise<Reply | undefined>,
  candidates: readonly Upstream[],
  first: AttemptContext,
  attempts: Attempt[],
): Promise<Reply | undefined> => {
  let found = await reply
  for (const [index, upstream] of candidates.entries()) {
    if (found !== undefined) return found
    // a login goes to the upstream that was chosen, never to one that stands in for it
    found = await attempt({ ...first, upstream, login: [], isLast: index === candidates.length - 1 }, attempts)
  }
  return found
}

/** One try at one upstream. */
interface AttemptContext {
  readonly gateway: Gateway
  readonly upstream: Upstream
  readonly call: Call
  readonly client: Client
  readonly login: readonly string[]
  /** Whatever comes of it is the answer. */
  readonly isLast: boolean
}

/** Gives undefined if it failed and another upstream is to be tried. Rejects with NoReply if it was the last. */
const attempt = async (context: AttemptContext, attempts: Attempt[]): Promise<Reply | undefined> => {
  const { gateway, call, client, upstream, isLast } = context
  const { name, address } = upstream
  const sent = await bodyFor(upstream, {
    bytes: call.steered_body ?? call.body,
    encoding: call.headers['content-encoding'],
    style: call.style,
    model: call.envelope.model,
    stream: call.envelope.stream,
  })
  try {
    const owned = gateway.service('requests').get()?.bodies
    const outbound = amended(gateway, upstream, outgoing(context, sent), call)
    const response = await send(upstream, outbound instanceof Promise ? await outbound : outbound, client, owned)
    const { status } = response
    attempts.push({ upstream: name, address, status, error: null })
    if (isLast || !retryableStatuses.has(status)) return replyOf(context, response, attempts, sent)
    discard(response.body)
  } catch (error) {
    attempts.push({
      upstream: name,
      address,
      status: null,
      error: error instanceof NoReply ? error.attempt : 'INTERNAL',
    })
    if (isLast || client.gone || !(error instanceof NoReply)) throw withAttempts(error, attempts)
  }
  return undefined
}

const withAttempts = (error: unknown, attempts: readonly Attempt[]): unknown => {
  if (!(error instanceof GuardError)) return error
  const failed = new GuardError(error.entry, error.message, { ...error.place, cause: error, attempts })
  const origin = errorOrigin(error)
  if (origin !== undefined) noteErrorOrigin(failed, origin)
  return failed
}

const outgoing = ({ gateway, upstream, call, login }: AttemptContext, sent: OutboundBody): UpstreamRequest => {
  const { raw_headers: raw, style, query } = call
  const outbound = { raw, login, style, length: sent.bytes.length }
  return {
    method: 'POST',
    path: guardedPath(upstream, style, call.path, query),
    headers: upstreamRequestHeaders(upstream.rules, outbound, gateway.secrets),
    body: sent.bytes,
  }
}

const replyOf = (
  { gateway, upstream }: AttemptContext,
  response: UpstreamResponse,
  attempts: readonly Attempt[],
  sent: OutboundBody,
): Reply => {
  const filtered = sent.asked_usage && isPlainEventStream(response)
  const headers = clientResponseHeaders(response.headers, gateway.secrets, !filtered)
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
