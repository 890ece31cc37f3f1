import type { FastifyInstance, FastifyRequest, FastifySchema, onRequestHookHandler } from 'fastify'
import type { ApiStyle } from 'guard-gateway/core'
import { type PathPattern, pathPattern, type RequestTarget } from 'guard-gateway/lib/api-style'
import type { TSchema } from 'typebox'
import { decodedPath, pathOf } from '../admission/target.ts'
import { styleOf } from '../errors.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { hiddenSchema, routeSchema } from '../route-schema.ts'
import { checkPaths } from './check-paths.ts'
import { guarded, run } from './exchange.ts'
import type { ModelRoute } from './model-paths.ts'
import { passthrough, unguarded } from './passthrough.ts'
import { anyBody, countBody, modelSchema, passthroughSchema } from './schemas.ts'

/** The ways a path below /v1 is spelled by clients whose base address is off by a `/v1`, and another path as it is; each with and without a slash at the end. */
const pathAliases = (path: string): readonly string[] => {
  const rest = /^\/v1(\/.*)/.exec(path)?.[1]
  return (rest === undefined ? [path] : [path, rest, `/v1${path}`]).flatMap((spelled) => [spelled, `${spelled}/`])
}

/** A style's routes: its keys are for models, whoever has made it. */
const FOR_MODELS = { scope: 'models' } as const

/** Serves the model paths and the probes that clients send before they show a key. */
export const modelRoutes = (state: HttpServerState, app: FastifyInstance): void => {
  checkPaths(state.gateway.apiStyles, pathAliases)
  for (const style of state.gateway.apiStyles) {
    state.modelPaths.addStyle(style)
    for (const path of style.paths) addGuarded(state, app, style, path)
    for (const path of style.unguarded ?? []) addUnguarded(state, app, style, path)
  }
  const lists = [...pathAliases('/v1/models'), '/v1/models/*', '/models/*', '/v1/v1/models/*']
  const models = routeSchema('Models of the upstreams', passthroughSchema())
  addAll(app, 'GET', '/v1/models', lists, models, enter(state, modelList(state)))
  // a client asks so whether there is anything; an upstream may know no HEAD, and the server leaves the body out
  addAll(app, 'HEAD', '', lists, models, enter(state, modelList(state)))
  const probe = async () => ''
  // the description leaves out what answers HEAD, except where it is told not to
  app.head('/', { schema: connectivity, config: { swagger: { exposeHeadRoute: true } } as object }, probe)
  app.get('/api/hello', { schema: hiddenSchema }, probe)
}

const addGuarded = (state: HttpServerState, app: FastifyInstance, style: ApiStyle, path: string): void => {
  const pattern = patternOf(style, path)
  const serve = (target: RequestTarget) => guarded(style, target)
  if (pattern.hasParams) {
    state.modelPaths.addPattern({ method: 'POST', style, isGuarded: true, serve }, pattern)
    return
  }
  const route = { style, serve: serve({ path, params: {} }) }
  const urls = pathAliases(path)
  for (const url of urls) state.modelPaths.add('POST', url, style, route)
  const schema = routeSchema(`Model request, judged by the rules (${style.id})`, modelSchema(style))
  addAll(
    app,
    'POST',
    path,
    urls,
    schema,
    enter(state, () => route),
  )
}

/** Methods of what a style lets pass. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof METHODS)[number]

/** The other ways a pattern below /v1 is spelled, and the canonical form of a path that is spelled so. */
const patternAliases = (pattern: string): readonly (readonly [string, (path: string) => string])[] =>
  pattern.startsWith('/v1/')
    ? [
        [pattern.slice('/v1'.length), (path) => `/v1${path}`],
        [`/v1${pattern}`, (path) => path.slice('/v1'.length)],
      ]
    : []

/** `declared`: method and path, as `GET /api/tags`. */
const addUnguarded = (state: HttpServerState, app: FastifyInstance, style: ApiStyle, declared: string): void => {
  const [, named, path = ''] = /^([A-Z]+) (\/.*)$/.exec(declared) ?? []
  const method = METHODS.find((known) => known === named)
  if (method === undefined)
    throw new TypeError(`An unguarded path of API style "${style.id}" is "${declared}"; it is like "GET /api/tags".`)
  const pattern = patternOf(style, path)
  const serve = (target: RequestTarget) => unguarded(style, target, method)
  if (pattern.hasParams) {
    const added = { method, style, isGuarded: false }
    state.modelPaths.addPattern({ ...added, serve }, pattern)
    for (const [alias, canonical] of patternAliases(path))
      state.modelPaths.addPattern(
        { ...added, serve: (target) => serve({ ...target, path: canonical(target.path) }) },
        pathPattern(alias),
      )
    return
  }
  // another style lets it pass already
  if (state.modelPaths.declares(method, path)) return
  const route = { style, serve: serve({ path, params: {} }) }
  const urls = pathAliases(path)
  const methods = method === 'GET' ? (['GET', 'HEAD'] as const) : [method]
  const schema = routeSchema(
    `Passes to the upstream, not counted (${style.id})`,
    passthroughSchema(bodyOf(path, method)),
  )
  for (const each of methods) {
    for (const url of urls) state.modelPaths.add(each, url, style)
    addAll(
      app,
      each,
      each === method ? path : '',
      urls,
      schema,
      enter(state, () => route),
    )
  }
}

const bodyOf = (path: string, method: Method): TSchema | undefined =>
  path === '/v1/messages/count_tokens' ? countBody : method === 'GET' || method === 'DELETE' ? undefined : anyBody

/** Throws TypeError for a path that cannot be matched, with the name of its style. */
const patternOf = (style: ApiStyle, path: string): PathPattern => {
  try {
    return pathPattern(path)
  } catch (error) {
    throw new TypeError(`API style "${style.id}" cannot be served: ${(error as Error).message}.`, { cause: error })
  }
}

const connectivity = routeSchema('Connectivity probe, without a key', {
  response: { 200: { description: 'The gateway is there.', type: 'null' } },
})

/** Takes a request out of the framework's hands before it would read the body. `anyType`: the body need not be JSON. */
export const enter =
  (state: HttpServerState, choose: (request: FastifyRequest) => ModelRoute, anyType = false): onRequestHookHandler =>
  (request, reply) => {
    reply.hijack()
    const { style, serve } = choose(request)
    void run({ state, id: request.id, request: request.raw, response: reply.raw, style, anyType }, serve)
  }

const addAll = (
  app: FastifyInstance,
  method: Method | 'HEAD',
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
      config: FOR_MODELS,
      exposeHeadRoute: false,
      onRequest,
      handler: async () => undefined,
    })
  }
}

/** Model lists have one form for Messages clients, one for those that show a key as their style does, and another for all others. */
const modelList =
  ({ modelPaths }: HttpServerState) =>
  ({ raw, headers }: FastifyRequest): ModelRoute => {
    const rest = pathOf(raw.url ?? '')
      .replace(/^\/(?:v1\/){0,2}models/, '')
      .replace(/\/$/, '')
    const style = modelPaths.styleOfKey(headers)
    const styles = style === undefined ? dialectsOf(styleOf('', headers)) : [style.id]
    return { style, serve: passthrough({ path: `/v1/models${rest}`, styles, method: 'GET' }) }
  }

/** Serves a path that the configuration lists to be passed through. */
export const configuredPassthrough =
  ({ modelPaths }: HttpServerState) =>
  (request: FastifyRequest): ModelRoute => {
    const path = pathOf(request.raw.url ?? '')
    const style = modelPaths.styleAt(decodedPath(path))
    const styles = style === undefined ? dialectsOf(styleOf(decodedPath(path), request.headers)) : [style.id]
    return { style, serve: passthrough({ path, styles }) }
  }

/** Upstreams that speak one of these share what is not a request to a model. */
const dialectsOf = (style: string): readonly string[] =>
  style === 'messages' ? ['messages'] : ['responses', 'chat_completions']
