import { type Client, type Gateway, GuardError, type ProxyRequest, type Reply } from 'guard-gateway/core'
import { collectionAt, objectsInPath } from '#lib/api-style'
import type { UpstreamResponse } from '#lib/upstream-client'
import { clientResponseHeaders } from './headers.ts'
import type { LiveUpstreams } from './live-upstreams.ts'
import { mergedModels } from './models.ts'
import { projectOf } from './routing.ts'
import { sendUnguarded } from './send-unguarded.ts'
import type { Upstream } from './upstream.ts'
/** Answers unguarded requests: model lists of several upstreams are merged, everything else goes to one upstream as it is. */
export const passthroughHandler = (gateway: Gateway, live: LiveUpstreams) => {
  const models = mergedModels(gateway)
  return async (request: ProxyRequest, client: Client): Promise<Reply> => {
    const upstreams = live.current
    const project = await projectOf(gateway, upstreams, request)
    const serving = upstreams.speaking(request.styles, project)
    if (isMerged(request) && serving.length > 1) return models(request, serving, client)
    const model = request.path.startsWith('/v1/models/') ? modelInPath(request) : request.model
    const upstream = upstreams.named(request.upstream, project) ?? upstreams.route(request.styles, model, project)
    refuseAccountList(request, upstream)
    return replyOf(gateway, upstream, await sendUnguarded(gateway, upstream, request, client))
  }
}

/** What is listed is the account's, whoever made it: a key that is bound to projects sees it where the account is theirs alone. Throws NOT_FOUND. */
const refuseAccountList = ({ method, admission: { path }, identity }: ProxyRequest, { projects }: Upstream): void => {
  const bound = identity.projects ?? null
  if (bound === null || method !== 'GET' || collectionAt(path) === undefined || objectsInPath(path).length > 0) return
  if (projects !== null && [...projects].every((project) => bound.includes(project))) return
  throw new GuardError(
    'NOT_FOUND',
    'This lists what all projects have in the account of the provider, and the key is bound to some. Give the project an upstream of its own with upstreams[].projects.',
  )
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
