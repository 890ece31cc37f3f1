import type { FastifyInstance, FastifyRequest, FastifySchema, onRequestHookHandler } from 'fastify'
import { classOf } from '../admission/route-class.ts'
import { decodedPath, pathOf } from '../admission/target.ts'
import { styleOf } from '../errors.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { hiddenSchema, routeSchema } from '../route-schema.ts'
import { guarded, run, type Serve } from './exchange.ts'
import { guardedPaths } from './guarded-paths.ts'
import { passthrough } from './passthrough.ts'
import { countBody, modelSchema, passthroughSchema } from './schemas.ts'

/** The ways a path below /v1 is spelled by clients whose base address is off by a `/v1`, and another path as it is; each with and without a slash at the end. */
const pathAliases = (path: string): readonly string[] => {
  const rest = /^\/v1(\/.*)/.exec(path)?.[1]
  return (rest === undefined ? [path] : [path, rest, `/v1${path}`]).flatMap((spelled) => [spelled, `${spelled}/`])
}

/** Serves the model paths and the probes that clients send before they show a key. */
export const modelRoutes = (state: HttpServerState, app: FastifyInstance): void => {
  const { apiStyles } = state.gateway
  for (const style of apiStyles) {
    for (const path of style.paths) {
      const serve = guarded(style, path)
      const urls = pathAliases(path)
      for (const url of urls) if (classOf(url) === 'model') guardedPaths(state).set(url, serve)
      addAll(
        app,
        'POST',
        path,
        urls,
        routeSchema(`Model request, judged by the rules (${style.id})`, modelSchema(style)),
        enter(state, () => serve),
      )
    }
  }
  if (apiStyles.get('messages') !== undefined) {
    const path = '/v1/messages/count_tokens'
    const serve = passthrough({ path, styles: ['messages'] })
    addAll(
      app,
      'POST',
      path,
      pathAliases(path),
      routeSchema('Count tokens at the upstream', passthroughSchema(countBody)),
      enter(state, () => serve),
    )
  }
  const lists = [...pathAliases('/v1/models'), '/v1/models/*', '/models/*', '/v1/v1/models/*']
  const models = routeSchema('Models of the upstreams', passthroughSchema())
  addAll(app, 'GET', '/v1/models', lists, models, enter(state, modelList))
  // a client asks so whether there is anything; an upstream may know no HEAD, and the server leaves the body out
  addAll(app, 'HEAD', '', lists, models, enter(state, modelList))
  const probe = async () => ''
  // the description leaves out what answers HEAD, except where it is told not to
  app.head('/', { schema: connectivity, config: { swagger: { exposeHeadRoute: true } } as object }, probe)
  app.get('/api/hello', { schema: hiddenSchema }, probe)
}

const connectivity = routeSchema('Connectivity probe, without a key', {
  response: { 200: { description: 'The gateway is there.', type: 'null' } },
})

/** Takes a request out of the framework's hands before it would read the body. `anyType`: the body need not be JSON. */
export const enter =
  (state: HttpServerState, choose: (request: FastifyRequest) => Serve, anyType = false): onRequestHookHandler =>
  (request, reply) => {
    reply.hijack()
    void run({ state, id: request.id, request: request.raw, response: reply.raw, anyType }, choose(request))
  }

const addAll = (
  app: FastifyInstance,
  method: 'GET' | 'HEAD' | 'POST',
  canonical: string,
  urls: readonly string[],
  shown: FastifySchema,
  onRequest: onRequestHookHandler,
): void => {
  for (const url of urls) {
    const schema = url === canonical ? shown : hiddenSchema
    // the exchange starts in `onRequest`; a handler would come after the body
    app.route({
      method,
      url,
      schema,
      exposeHeadRoute: false,
      onRequest,
      handler: async () => undefined,
    })
  }
}

/** Model lists have one form for Messages clients and another for all others. */
const modelList = ({ raw, headers }: FastifyRequest): Serve => {
  const rest = pathOf(raw.url ?? '')
    .replace(/^\/(?:v1\/){0,2}models/, '')
    .replace(/\/$/, '')
  return passthrough({ path: `/v1/models${rest}`, styles: dialectsOf(styleOf('', headers)), method: 'GET' })
}

/** Serves a path that the configuration lists to be passed through. */
export const configuredPassthrough = (request: FastifyRequest): Serve => {
  const path = pathOf(request.raw.url ?? '')
  return passthrough({ path, styles: dialectsOf(styleOf(decodedPath(path), request.headers)) })
}

/** Upstreams that speak one of these share what is not a request to a model. */
const dialectsOf = (style: string): readonly string[] =>
  style === 'messages' ? ['messages'] : ['responses', 'chat_completions']
