import type { FastifyInstance, FastifyRequest } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import type { Mcp, Place } from '../mcp.ts'
import { checkMedia, checkMethod } from './checks.ts'
import { answerPreflight, corsHeaders } from './cors.ts'
import { transportError } from './errors.ts'
import { Exchange } from './exchange.ts'
import { transportSchemas } from './schemas.ts'

interface Params {
  readonly server_id: string
}

/** Streamable HTTP towards clients: `/mcp/{server_id}`. The gateway has judged target, host, origin and key before. */
export const transportRoutes = (mcp: Mcp) => async (app: FastifyInstance) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof GuardError && /^(?:HOST|ORIGIN|INVALID)_/.test(error.code)))
      reply.headers(corsHeaders(request))
    transportError(mcp.gateway, mcp.limits.frame_bytes)(error, request, reply)
  })
  app.addHook('preClose', async () => mcp.sessions.endAll('the gateway stops'))
  const described = Object.keys(transportSchemas)
  const others = app.supportedMethods.filter((method) => !described.includes(method))
  const methods = [...Object.entries(transportSchemas), [others, { hide: true } as object] as const]
  for (const [method, schema] of methods)
    app.route<{ Params: Params }>({
      method: [method].flat(),
      url: '/mcp/:server_id',
      schema,
      // frames are judged byte by byte, not by a schema
      validatorCompiler: () => () => true,
      exposeHeadRoute: false,
      bodyLimit: mcp.limits.frame_bytes,
      onRequest: (request, reply, done) => {
        if (request.method === 'OPTIONS') {
          answerPreflight(request, reply)
          return
        }
        placeOf(mcp, request)
        checkMethod(request.method)
        checkMedia(request.method, request.headers)
        done()
      },
      handler: async (request, reply) => new Exchange(mcp, placeOf(mcp, request), request, reply).answer(),
    })
}

const placeOf = (mcp: Mcp, { params: { server_id } }: FastifyRequest<{ Params: Params }>): Place => {
  const place = mcp.place(server_id)
  if (place !== undefined) return place
  throw new GuardError('MCP_SERVER_NOT_FOUND', undefined, { known: mcp.places().map(({ server }) => server.id) })
}
