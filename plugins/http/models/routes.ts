import type { FastifyInstance, FastifyRequest, FastifySchema, onRequestHookHandler } from 'fastify'
import { classOf } from '../admission/route-class.ts'
import { decodedPath, pathOf } from '../admission/target.ts'
import { described, undescribed } from '../described.ts'
import { styleOf } from '../errors.ts'
import type { HttpFace } from '../face.ts'
import { guarded, run, type Serve } from './exchange.ts'
import { guardedPaths } from './guarded-paths.ts'
import { proxied } from './proxied.ts'
import { countBody, handedOn, modelSchema } from './schemas.ts'

/** The ways a path below /v1 is spelled by clients whose base address is off by a `/v1`, and another path as it is; each with and without a slash at the end. */
const spellings = (path: string): readonly string[] => {
  const rest = /^\/v1(\/.*)/.exec(path)?.[1]
  return (rest === undefined ? [path] : [path, rest, `/v1${path}`]).flatMap((spelled) => [spelled, `${spelled}/`])
}

/** Serves the model paths and the probes that clients send before they show a key. */
export const modelRoutes = (face: HttpFace, app: FastifyInstance): void => {
  const { apiStyles } = face.gateway
  for (const style of apiStyles) {
    for (const path of style.paths) {
      const serve = guarded(style, path)
      const urls = spellings(path)
      for (const url of urls) if (classOf(url) === 'model') guardedPaths(face).set(url, serve)
      addAll(
        app,
        'POST',
        path,
        urls,
        described(`Model request, judged by the rules (${style.id})`, modelSchema(style)),
        enter(face, () => serve),
      )
    }
  }
  if (apiStyles.get('messages') !== undefined) {
    const path = '/v1/messages/count_tokens'
    const serve = proxied({ path, styles: ['messages'] })
    addAll(
      app,
      'POST',
      path,
      spellings(path),
      described('Count tokens at the upstream', handedOn(countBody)),
      enter(face, () => serve),
    )
  }
  const lists = [...spellings('/v1/models'), '/v1/models/*', '/models/*', '/v1/v1/models/*']
  const models = described('Models of the upstreams', handedOn())
  addAll(app, 'GET', '/v1/models', lists, models, enter(face, modelsServer))
  const probe = async () => ''
  // the description leaves out what answers HEAD, except where it is told not to
  app.head('/', { schema: connectivity, config: { swagger: { exposeHeadRoute: true } } as object }, probe)
  app.get('/api/hello', { schema: undescribed }, probe)
}

const connectivity = described('Connectivity probe, without a key', {
  response: { 200: { description: 'The gateway is there.', type: 'null' } },
})

/** Takes a request out of the framework's hands before it would read the body. `anyType`: the body need not be JSON. */
export const enter =
  (face: HttpFace, choose: (request: FastifyRequest) => Serve, anyType = false): onRequestHookHandler =>
  (request, reply) => {
    reply.hijack()
    void run({ face, id: request.id, request: request.raw, response: reply.raw, anyType }, choose(request))
  }

const addAll = (
  app: FastifyInstance,
  method: 'GET' | 'POST',
  canonical: string,
  urls: readonly string[],
  shown: FastifySchema,
  onRequest: onRequestHookHandler,
): void => {
  for (const url of urls) {
    const schema = url === canonical ? shown : undescribed
    // the exchange begins in `onRequest`; a handler would come after the body
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
const modelsServer = ({ raw, headers }: FastifyRequest): Serve => {
  const rest = pathOf(raw.url ?? '')
    .replace(/^\/(?:v1\/){0,2}models/, '')
    .replace(/\/$/, '')
  return proxied({ path: `/v1/models${rest}`, styles: dialectsOf(styleOf('', headers)) })
}

/** Serves a path that the configuration lists to be passed through. */
export const passThrough = (request: FastifyRequest): Serve => {
  const path = pathOf(request.raw.url ?? '')
  return proxied({ path, styles: dialectsOf(styleOf(decodedPath(path), request.headers)) })
}

/** Upstreams that speak one of these share what is not a request to a model. */
const dialectsOf = (style: string): readonly string[] =>
  style === 'messages' ? ['messages'] : ['responses', 'chat_completions']
