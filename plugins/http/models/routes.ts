import type { FastifyInstance, FastifyRequest, FastifySchema, onRequestHookHandler } from 'fastify'
import type { TSchema } from 'typebox'
import { decodedPath, pathOf } from '../admission/target.ts'
import { styleOf } from '../errors.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { hiddenSchema, routeSchema } from '../route-schema.ts'
import { declareModelPaths, dialectsOf, modelList } from './declare-paths.ts'
import { run } from './exchange.ts'
import type { Choose, DeclaredPath, ModelRoute } from './model-paths.ts'
import { passthrough } from './passthrough.ts'
import { anyBody, countBody, modelSchema, passthroughSchema } from './schemas.ts'

/** A style's routes: its keys are for models, whoever has made it. */
const FOR_MODELS = { scope: 'models' } as const

/** Adds the model paths and the probes that clients send before they show a key to the framework. */
export const modelRoutes = (state: HttpServerState, app: FastifyInstance): void => {
  declareModelPaths(state)
  for (const declared of state.modelPaths.declared) addAll(state, app, declared, schemaOf(declared))
  const choose = modelList(state.modelPaths)
  const urls = ['/v1/models/*', '/models/*', '/v1/v1/models/*']
  for (const method of ['GET', 'HEAD'] as const)
    addAll(state, app, { method, path: '', urls, kind: 'list', choose }, hiddenSchema)
  const probe = async () => ''
  // the description leaves out what answers HEAD, except where it is told not to
  app.head('/', { schema: connectivity, config: { swagger: { exposeHeadRoute: true } } as object }, probe)
  app.get('/api/hello', { schema: hiddenSchema }, probe)
}

/** The schema of a path in its canonical spelling. */
const schemaOf = ({ method, path, kind, style }: DeclaredPath): FastifySchema => {
  if (method === 'HEAD') return hiddenSchema
  if (kind === 'list' || style === undefined) return routeSchema('Models of the upstreams', passthroughSchema())
  if (kind === 'guarded') return routeSchema(`Model request, judged by the rules (${style.id})`, modelSchema(style))
  return routeSchema(`Passes to the upstream, not counted (${style.id})`, passthroughSchema(bodyOf(path, method)))
}

const bodyOf = (path: string, method: string): TSchema | undefined =>
  path === '/v1/messages/count_tokens' ? countBody : method === 'GET' || method === 'DELETE' ? undefined : anyBody

const connectivity = routeSchema('Connectivity probe, without a key', {
  response: { 200: { description: 'The gateway is there.', type: 'null' } },
})

/** Takes a request out of the framework's hands before it would read the body. `anyType`: the body need not be JSON. */
export const enter =
  (state: HttpServerState, choose: Choose, anyType = false): onRequestHookHandler =>
  (request, reply) => {
    reply.hijack()
    const { style, serve } = choose(request.raw)
    void run({ state, id: request.id, request: request.raw, response: reply.raw, style, anyType }, serve)
  }

const addAll = (
  state: HttpServerState,
  app: FastifyInstance,
  { method, path, urls, choose }: DeclaredPath,
  shown: FastifySchema,
): void => {
  const onRequest = enter(state, choose)
  for (const url of urls) {
    const schema = url === path ? shown : hiddenSchema
    // the exchange starts in `onRequest`; a handler would come after the body
    app.route({
      method,
      url,
      schema,
      config: FOR_MODELS,
      exposeHeadRoute: false,
      onRequest,
      handler: async () => undefined,
    })
  }
}

/** Serves a path that the configuration lists to be passed through. */
export const configuredPassthrough = ({ modelPaths }: HttpServerState, request: FastifyRequest): ModelRoute => {
  const path = pathOf(request.raw.url ?? '')
  const style = modelPaths.styleAt(decodedPath(path))
  const styles = style === undefined ? dialectsOf(styleOf(decodedPath(path), request.headers)) : [style.id]
  return { style, serve: passthrough({ path, styles }) }
}
