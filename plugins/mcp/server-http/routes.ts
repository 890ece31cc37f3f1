import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { mcpErrors } from '../error-codes.ts'
import type { Mcp } from '../mcp.ts'
import type { Door } from '../session/client-session.ts'
import { answerPreflight, corsHeaders } from './cors.ts'
import { transportError } from './errors.ts'
import { Exchange } from './exchange.ts'
import { checkMedia, checkMethod } from './method-and-media.ts'
import { bodyOf } from './request-body.ts'
import { transportSchemas } from './schemas.ts'

interface Params {
  readonly server_id: string
}

/** Streamable HTTP towards clients: `/mcp/{server_id}`. The gateway has judged target, host, origin and key before. */
export const transportRoutes = (mcp: Mcp) => async (app: FastifyInstance) => {
  const refuse = (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    if (reply.sent) {
      // an answer that has started cannot become another one
      mcp.gateway.fault(error, 'mcp:http')
      return void reply.raw.destroy()
    }
    if (!(error instanceof GuardError && /^(?:HOST|ORIGIN|INVALID)_/.test(error.code)))
      reply.headers(corsHeaders(request))
    transportError(mcp.gateway)(error, request, reply)
  }
  app.setErrorHandler(refuse)
  app.addHook('preClose', async () => mcp.endSessions('the gateway stops'))
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
      onRequest: (request, reply) => {
        if (request.method === 'OPTIONS') return void answerPreflight(request, reply)
        const served = serve(mcp, request, reply).catch((error: unknown) => refuse(error, request, reply))
        // a stream that is only listened to ends with its session
        if (request.method === 'POST') mcp.exchanges.add(served)
      },
      // the exchange starts in `onRequest`; a handler would come after the body
      handler: async () => undefined,
    })
}

/** Answers one request, of which nothing but its head has been read; rejects with why it is refused. */
const serve = async (mcp: Mcp, request: FastifyRequest<{ Params: Params }>, reply: FastifyReply): Promise<void> => {
  const door = await doorOf(mcp, request)
  const { method, headers, raw } = request
  checkMethod(method)
  checkMedia(method, headers)
  const exchange = new Exchange(mcp, door, request, reply)
  if (method === 'POST') return exchange.post(await bodyOf(raw, mcp.limits.frame_bytes))
  return exchange.answer()
}

const doorOf = async (mcp: Mcp, { params: { server_id } }: FastifyRequest<{ Params: Params }>): Promise<Door> => {
  const server = mcp.serverDoor(server_id)
  if (server !== undefined) return server
  const bundles = await mcp.bundles()
  const door = bundles.door(server_id)
  if (door !== undefined) return door
  throw new GuardError(mcpErrors.MCP_SERVER_NOT_FOUND, undefined, {
    known: [...mcp.serverStates().map(({ server: { id } }) => id), ...bundles.ids],
  })
}
