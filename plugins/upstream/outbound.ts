import type { Call, Gateway, ProxyRequest } from 'guard-gateway/core'
import { outboundHeaders, tapsOutbound } from '#lib/http'
import type { UpstreamRequest } from '#lib/upstream-client'
import type { Upstream } from './upstream.ts'

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
