import { type Client, type Gateway, logins, type ProxyRequest, type UpstreamResponse } from 'guard-gateway/core'
import type { Upstream } from './destination.ts'
import { outboundHeaders } from './headers.ts'
import { send } from './request.ts'

/** Sends an unguarded request to an upstream as it is, but for headers. Throws NoReply. */
export const ask = (
  gateway: Gateway,
  upstream: Upstream,
  request: ProxyRequest,
  client: Client,
): Promise<UpstreamResponse> => {
  const { method, path, query, raw_headers: raw, body, styles } = request
  const login = logins.get(request) ?? []
  const outbound = { raw, login, style: styles[0] ?? '', length: body?.length }
  const headers = outboundHeaders(upstream.rules, outbound, gateway.secrets)
  return send(upstream, { method, path: upstream.prefix + path + query, headers, body }, client)
}
