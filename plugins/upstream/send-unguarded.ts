import type { Call, Client, Gateway, ProxyRequest } from 'guard-gateway/core'
import { clientCredentials, outboundHeaders, tapsOutbound } from '#lib/http'
import type { UpstreamRequest, UpstreamResponse } from '#lib/upstream-client'
import { statusesOfKeys } from './availability.ts'
import { bodyFor } from './body.ts'
import { coolDown } from './cool-down.ts'
import { upstreamRequestHeaders } from './headers.ts'
import { missingLogin } from './login.ts'
import { type Upstream, unguardedPath } from './upstream.ts'
import { send } from './upstream-attempt.ts'

/** Sends an unguarded request to an upstream as it is, but for headers and the name of its model there. Throws NoReply and LOGIN_MISSING. */
export const sendUnguarded = async (
  gateway: Gateway,
  upstream: Upstream,
  request: ProxyRequest,
  client: Client,
): Promise<UpstreamResponse> => {
  const { method, path, query, raw_headers: raw, styles } = request
  const refused = missingLogin(gateway, upstream, request)
  if (refused !== undefined) throw refused
  const login = clientCredentials.get(request) ?? []
  const body = await sentBody(upstream, request)
  const [style = ''] = styles
  const key_header = gateway.apiStyles.get(style)?.credential?.header
  const outbound = { raw, login, style, key_header, length: body?.length }
  const { clock } = gateway
  const { keys } = upstream.availability
  const rules = keys?.first(clock.tick()) ?? upstream.rules
  const headers = upstreamRequestHeaders(rules, outbound, gateway.secrets)
  const sent = { method, path: unguardedPath(upstream, path, query), headers, body }
  const amendedRequest = await amended(gateway, upstream, sent, request)
  const response = await send(upstream, amendedRequest, client, gateway.service('requests').get()?.bodies)
  if (keys !== undefined && statusesOfKeys.has(response.status))
    keys.rest(rules, clock.tick() + coolDown(response.status, response.headers, clock.now()))
  return response
}

const sentBody = async (
  upstream: Upstream,
  { body, headers, model, styles: [style = ''] }: ProxyRequest,
): Promise<Buffer | undefined> => {
  if (body === undefined) return undefined
  const inbound = { bytes: body, encoding: headers['content-encoding'], style, model, stream: false }
  return (await bodyFor(upstream, inbound)).bytes
}

/** The request as plugins want its head, for one try at one upstream; without a promise where no plugin changes heads. Rejects as `outboundHeaders` does. */
export const amended = (
  gateway: Gateway,
  { name, origin }: Upstream,
  sent: UpstreamRequest,
  request: Call | ProxyRequest,
): UpstreamRequest | Promise<UpstreamRequest> => {
  if (!tapsOutbound(gateway)) return sent
  const { method, path, headers, body } = sent
  const message = { upstream: name, method, url: origin + path, headers, body }
  return outboundHeaders(gateway, message, request).then((amendedHeaders) => ({ ...sent, headers: amendedHeaders }))
}
