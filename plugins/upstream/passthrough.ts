import type { Client, Gateway, ProxyRequest, Reply } from 'guard-gateway/core'
import type { UpstreamResponse } from 'guard-gateway/lib/upstream-client'
import { clientResponseHeaders } from './headers.ts'
import type { LiveUpstreams } from './live-upstreams.ts'
import { mergedModels } from './models.ts'
import { sendUnguarded } from './send-unguarded.ts'
import type { Upstream } from './upstream.ts'

/** Answers unguarded requests: model lists of several upstreams are merged, everything else goes to one upstream as it is. */
export const passthroughHandler = (gateway: Gateway, live: LiveUpstreams) => {
  const models = mergedModels(gateway)
  return async (request: ProxyRequest, client: Client): Promise<Reply> => {
    const upstreams = live.current
    const serving = upstreams.speaking(request.styles)
    if (isMerged(request) && serving.length > 1) return models(request, serving, client)
    const model = request.path.startsWith('/v1/models/') ? modelInPath(request) : request.model
    const upstream = upstreams.get(request.upstream ?? '') ?? upstreams.route(request.styles, model)
    return replyOf(gateway, upstream, await sendUnguarded(gateway, upstream, request, client))
  }
}

/** The form of other lists is not known here. */
const isMerged = ({ path, styles }: ProxyRequest): boolean =>
  path === '/v1/models' && styles.some((style) => style === 'messages' || style === 'chat_completions')

const modelInPath = ({ path }: ProxyRequest): string => {
  const id = path.slice('/v1/models/'.length)
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

const replyOf = (gateway: Gateway, upstream: Upstream, { status, headers, body }: UpstreamResponse): Reply => ({
  status,
  headers: clientResponseHeaders(headers, gateway.secrets),
  body,
  upstream: upstream.name,
  attempts: [{ upstream: upstream.name, status, error: null }],
  upstream_request_id: null,
  on_disconnect: 'abort',
})
