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
import { clientCredentials } from '#lib/http'
import type { UpstreamRequest, UpstreamResponse } from '#lib/upstream-client'
import { bodyFor, type OutboundBody } from './body.ts'
import { clientResponseHeaders, upstreamRequestHeaders } from './headers.ts'
import type { LiveUpstreams } from './live-upstreams.ts'
import { missingLogin, needsLogin } from './login.ts'
import { discard } from './read-body.ts'
import { isFor } from './routing.ts'
import { amended } from './send-unguarded.ts'
import { Targets } from './targets.ts'
import { guardedPath, type Upstream } from './upstream.ts'
import { NoReply, send } from './upstream-attempt.ts'
import { UsageFilter } from './usage-filter.ts'

/** Sends calls to the upstream they were routed to, and to its fallbacks where the configuration names some. Throws NO_UPSTREAM for a call without one: what is blocked needs none. */
export const forwardHandler =
  (gateway: Gateway, live: LiveUpstreams) =>
  (call: Call, client: Client): Promise<Reply | undefined> | undefined => {
    const upstreams = live.current
    const upstream =
      call.upstream === null
        ? upstreams.route([call.style], call.envelope.model, call.project_id)
        : upstreams.get(call.upstream)
    if (upstream === undefined) return undefined
    const refused = missingLogin(gateway, upstream, call)
    if (refused !== undefined) throw refused
    const standIns = upstream.fallback.length === 0 ? [] : standInsOf(upstreams.fallbacks(upstream), call)
    const targets = new Targets([upstream, ...standIns], gateway.clock)
    const forwarding = { gateway, call, client, targets, login: clientCredentials.get(call) ?? [] }
    // nearly every call: there is one place to ask, and whatever comes of it is the answer
    const isOnly = standIns.length === 0 && upstream.availability.keys === undefined
    return isOnly ? attempt({ ...forwarding, upstream }, []) : forwarded(forwarding)
  }

/** Those that can be in: they speak the style, serve the project, and need no login, which goes to the upstream that was chosen alone. */
const standInsOf = (upstreams: readonly Upstream[], { style, project_id }: Call): readonly Upstream[] =>
  upstreams.filter(
    (upstream) => upstream.styles.includes(style) && isFor(upstream, project_id) && !needsLogin(upstream),
  )

/** One call, wherever it goes. */
interface Forwarding {
  readonly gateway: Gateway
  readonly call: Call
  readonly client: Client
  readonly targets: Targets
  /** The client's own. */
  readonly login: readonly string[]
}

/** Asks one target after another. Rejects with NoReply if the last did not answer. */
const forwarded = async (forwarding: Forwarding): Promise<Reply | undefined> => {
  const { targets, login } = forwarding
  const attempts: Attempt[] = []
  let reply: Reply | undefined
  while (reply === undefined) {
    // a login goes to the upstream that was chosen, never to one that stands in for it
    const credentials = targets.isChosen ? login : []
    reply = await attempt({ ...forwarding, upstream: targets.current, login: credentials }, attempts)
  }
  return reply
}

/** One try at one upstream. */
interface AttemptContext extends Forwarding {
  readonly upstream: Upstream
}

/** Gives undefined if the next target is to be asked. Rejects with NoReply if there is none. */
const attempt = async (context: AttemptContext, attempts: Attempt[]): Promise<Reply | undefined> => {
  const { gateway, call, client, upstream, targets } = context
  const { name, address } = upstream
  try {
    const sent = await bodyFor(upstream, {
      bytes: call.steered_body ?? call.body,
      encoding: call.headers['content-encoding'],
      style: call.style,
      model: call.envelope.model,
      stream: call.envelope.stream,
    })
    const owned = gateway.service('requests').get()?.bodies
    const outbound = amended(gateway, upstream, outgoing(context, sent), call)
    const response = await send(upstream, outbound instanceof Promise ? await outbound : outbound, client, owned)
    const { status } = response
    attempts.push({ upstream: name, address, status, error: null })
    if (!targets.goesOn(response)) return replyOf(context, response, attempts, sent)
    discard(response.body)
  } catch (error) {
    const isNoReply = error instanceof NoReply
    attempts.push({ upstream: name, address, status: null, error: isNoReply ? error.attempt : 'INTERNAL' })
    // what cannot be sent, or nobody waits for any more, says nothing of the upstream
    const isItsFault = isNoReply && !client.gone && error.attempt !== 'INVALID_REQUEST'
    if (!targets.goesOnWithout(isItsFault)) throw withAttempts(error, attempts)
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
  const key_header = gateway.apiStyles.get(style)?.credential?.header
  const outbound = { raw, login, style, key_header, length: sent.bytes.length }
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
  const filtered = sent.usage_requested && isPlainEventStream(response)
  const headers = clientResponseHeaders(response.headers, gateway.secrets, !filtered)
  return {
    status: response.status,
    headers,
    body: response.body,
    upstream: upstream.name,
    attempts,
    upstream_request_id: headerOf(headers, 'request-id') ?? headerOf(headers, 'x-request-id') ?? null,
    on_disconnect: upstream.on_disconnect,
    ...(filtered ? { filter: new UsageFilter() } : {}),
  }
}

const isPlainEventStream = (response: UpstreamResponse): boolean =>
  (headerOf(response.headers, 'content-encoding') ?? 'identity') === 'identity' && isEventStream(response, true)
