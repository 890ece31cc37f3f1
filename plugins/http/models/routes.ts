import type { FastifyInstance, FastifyRequest, FastifySchema, onRequestHookHandler } from 'fastify'
import type { ApiStyle } from 'guard-gateway/core'
import type { TSchema } from 'typebox'
import { Type } from '#lib/json'
import { decodedPath, pathOf } from '../admission/target.ts'
import { styleOf } from '../errors.ts'
import type { HttpServerState, Serve } from '../http-server-state.ts'
import { hiddenSchema, routeSchema } from '../route-schema.ts'
import { declareModelPaths, dialectsOf, modelList } from './declare-paths.ts'
import { run } from './exchange.ts'
import type { Choose, DeclaredPath, ModelRoute } from './model-paths.ts'
import { passthrough } from './passthrough.ts'

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
const schemaOf = ({ method, path, kind, style }: DeclaredPath<Serve>): FastifySchema => {
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
  (state: HttpServerState, choose: Choose<Serve>, anyType = false): onRequestHookHandler =>
  (request, reply) => {
    reply.hijack()
    const { style, serve } = choose(request.raw)
    void run({ state, id: request.id, request: request.raw, response: reply.raw, style, anyType }, serve)
  }

const addAll = (
  state: HttpServerState,
  app: FastifyInstance,
  { method, path, urls, choose }: DeclaredPath<Serve>,
  visibleSchema: FastifySchema,
): void => {
  const onRequest = enter(state, choose)
  for (const url of urls) {
    const schema = url === path ? visibleSchema : hiddenSchema
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
export const configuredPassthrough = ({ modelPaths }: HttpServerState, request: FastifyRequest): ModelRoute<Serve> => {
  const path = pathOf(request.raw.url ?? '')
  const style = modelPaths.styleAt(decodedPath(path))
  const styles = style === undefined ? dialectsOf(styleOf(decodedPath(path), request.headers)) : [style.id]
  return { style, serve: passthrough({ path, styles }) }
}

const open = { additionalProperties: true }
const correlation = Type.Object({
  'x-guard-project-id': Type.Optional(Type.String({ description: 'The project that the request counts for.' })),
  'x-guard-session-id': Type.Optional(Type.String({ description: 'The session, by an id of your own or of ours.' })),
  'x-guard-agent-id': Type.Optional(Type.String({ description: 'The agent that sends it.' })),
  'x-client-session-id': Type.Optional(Type.String({ description: 'The session where x-guard-session-id is absent.' })),
  'x-guard-mode': Type.Optional(
    Type.String({ enum: ['shadow', 'enforce'], description: 'Heard only with server.allow_mode_header.' }),
  ),
})

const blocked = Type.Object({
  error: Type.Object(
    {
      type: Type.Literal('guard_block'),
      code: Type.String({ description: 'The reason: LOOP_EXACT, LIMIT_TOKENS, PAUSED_SESSION and so on.' }),
      message: Type.String(),
      session_id: Type.String(),
      rule_id: Type.String({ description: 'Empty where no rule refuses: a pause.' }),
    },
    open,
  ),
})

const answer = (description: string, content: Readonly<Record<string, TSchema>>) => ({
  description,
  content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])),
})

const anyObject = Type.Object({}, { ...open, description: 'The form of the upstream.' })

/** Describes a model request: what the rules read of it. The request is forwarded as it came, whatever else is in it. */
const modelSchema = ({ id, list }: ApiStyle): FastifySchema => ({
  headers: correlation,
  body: Type.Object(
    {
      model: Type.String(),
      [list]: Type.Union([Type.String(), Type.Array(anyObject)], { description: 'The conversation.' }),
      stream: Type.Optional(Type.Boolean()),
    },
    { ...open, examples: [exampleOf(id, list)] },
  ),
  response: {
    200: answer('The reply of the upstream, untouched, with x-guard-request-id and x-guard-decision.', {
      'application/json': anyObject,
      'text/event-stream': Type.String(),
    }),
    409: answer('The session or the agent is paused.', { 'application/json': blocked }),
    429: answer('A rule in mode enforce blocks, in the error form of the dialect.', { 'application/json': blocked }),
  },
})

/** Only one style wants a limit of the reply's tokens, and others refuse what they do not know by this name. */
const exampleOf = (style: string, list: string): object => ({
  model: 'small-model',
  [list]: [{ role: 'user', content: 'Hello' }],
  ...(style === 'messages' ? { max_tokens: 64 } : {}),
})

/** Schema of a request that passes to the upstream without rules. */
const passthroughSchema = (body?: TSchema): FastifySchema => ({
  ...(body === undefined ? {} : { body }),
  response: { 200: answer('The answer of the upstream.', { 'application/json': anyObject }) },
})

/** A body of any form. */
const anyBody = Type.Object({}, { ...open, examples: [{ model: 'small-model' }] })

/** A request whose tokens are to be counted. */
const countBody = Type.Object(
  { model: Type.String(), messages: Type.Array(anyObject) },
  { ...open, examples: [{ model: 'small-model', messages: [{ role: 'user', content: 'Hello' }] }] },
)
