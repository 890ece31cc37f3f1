import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { approverHeaders } from '#lib/approver'
import { rejectUnknownFilters } from '#lib/errors'
import { Type } from '#lib/json'
import type { McpServer } from '#lib/mcp-transport'
import { mcpErrors } from './error-codes.ts'
import {
  beginAnswer,
  beginBody,
  finishAnswer,
  finishBody,
  loginAnswer,
  loginParams,
  loginQuery,
  logoutAnswer,
  logoutBody,
  viewOf,
} from './login/schemas.ts'
import { managementRoutes } from './management/routes.ts'
import { oneOf, since } from './management/schema-parts.ts'
import type { Mcp } from './mcp.ts'
import { addPages } from './page/index.ts'
import { knownKeys } from './policy/known-keys.ts'
import type { ListedTool } from './policy/listed-tool.ts'
import { policyRoutes } from './policy/routes.ts'
import { ruleRoutes } from './rule-from-call/routes.ts'
import { answerPreflight, corsHeaders } from './server-http/cors.ts'
import { transportError } from './server-http/errors.ts'
import { Exchange } from './server-http/exchange.ts'
import { serversView } from './servers/servers-view.ts'
import type { Door } from './session/client-session.ts'
import { simulationRoutes } from './simulate/routes.ts'
import { acceptPins } from './tools/accept-pins.ts'

/** Everything of the proxy that is reached over HTTP: the way to the servers, their administration, the pages. */
export const addRoutes = async (app: FastifyInstance, mcp: Mcp): Promise<void> => {
  const { gateway, options } = mcp
  const management = managementRoutes({
    gateway,
    approvals: mcp.approvals,
    approver: gateway.approver,
    servers: () => serversView(mcp),
    acceptPins: (server_id, tools, fingerprints) => acceptPins(mcp, server_id, tools, fingerprints),
  })
  await app.register(transportRoutes(mcp))
  await app.register(management, { prefix: '/api/v1/mcp' })
  await app.register(draftRoutes(mcp), { prefix: '/api/v1/mcp' })
  await app.register(simulationRoutes(mcp), { prefix: '/api/v1/mcp' })
  await app.register(loginRoutes(mcp), { prefix: '/api/v1/mcp' })
  await app.register(ruleRoutes(mcp), { prefix: '/api/v1/mcp' })
  addPages({ mcp, approver: gateway.approver })
  const validation = policyRoutes(gateway, {
    ...options,
    tools: () => listedTools(mcp),
    keys: () => knownKeys(gateway),
  })
  await app.register(validation, { prefix: '/api/v1/mcp' })
}

/** The tools that servers have listed since the gateway started; undefined before any has. */
const listedTools = (mcp: Mcp): readonly ListedTool[] | undefined => {
  const tools = mcp
    .serverStates()
    .flatMap(({ server, tools }) =>
      [...tools.names()].map((name) => ({ server_id: server.id, name, inputSchema: tools.inputSchema(name) })),
    )
  return tools.length === 0 ? undefined : tools
}

const draftQuery = Type.Object({
  server_id: Type.Optional(
    Type.String({ description: 'Of this server; absent: of every one whose tools are on record.' }),
  ),
  since: Type.Optional(since),
  format: Type.Optional(oneOf(['json', 'yaml'], { description: 'yaml: the policy alone, as a file; json if absent.' })),
})

const draftAnswer = Type.Object({
  yaml: Type.String({ description: 'The policy, with comments; it passes its own tests.' }),
  rules: Type.Integer({ minimum: 0, description: 'How many rules it has.' }),
  tests: Type.Integer({ minimum: 0, description: 'How many tests of its own it passes.' }),
  tools: Type.Integer({ minimum: 0, description: 'Tools that its rules are about.' }),
})

/** Drafts of policies, below `/api/v1/mcp`. Nothing of them is put into force. */
const draftRoutes =
  (mcp: Mcp): FastifyPluginAsyncTypebox =>
  async (app) => {
    const draft = {
      summary: 'Draft a policy from the tools of servers and the calls on record',
      tags: ['mcp'],
      querystring: draftQuery,
      response: {
        200: {
          description: 'The draft with what it holds, or as a file.',
          content: { 'application/json': { schema: draftAnswer }, 'application/yaml': { schema: Type.String() } },
        },
      },
    }
    app.get('/draft', { schema: draft }, async ({ query: { format, ...query } }, reply) => {
      rejectUnknownFilters(query, draftQuery)
      const { draftOfRecord } = await import('./draft/draft-of-record.ts')
      const made = await draftOfRecord(mcp, query)
      if (format !== 'yaml') return made
      return reply
        .type('application/yaml; charset=utf-8')
        .header('content-disposition', 'attachment; filename="mcp-policy.yml"')
        .send(made.yaml)
    })
  }

const tags = ['mcp']

/** Logins at MCP servers, below `/api/v1/mcp`. Tokens go in and never come out. */
const loginRoutes =
  (mcp: Mcp): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { approver } = mcp.gateway
    const path = '/servers/:id/login'
    const common = { tags, params: loginParams }
    const changing = { ...common, headers: approverHeaders }

    const read = { summary: 'Read the login at a server', ...common, querystring: loginQuery }
    app.get(path, { schema: { ...read, response: { 200: loginAnswer } } }, async ({ params, query }) => {
      rejectUnknownFilters(query, loginQuery)
      const server = serverAt(mcp, params.id)
      const logins = await mcp.logins()
      const { agent_id } = logins.nameOf(server, query.agent_id ?? '')
      const last = await logins.lastRedirect(server.id, agent_id)
      const redirect_uri = server.login?.redirect_uri ?? last ?? null
      return { login: viewOf(await logins.state(server, agent_id)), redirect_uri }
    })

    const begin = { summary: 'Begin a login at a server', ...changing, body: beginBody }
    app.post(path, { schema: { ...begin, response: { 200: beginAnswer } } }, async ({ params, body, headers }) => {
      approver.checkHeaders(headers)
      const logins = await mcp.logins()
      const server = serverAt(mcp, params.id)
      return { authorization_url: await logins.begin(server, body.agent_id ?? '', body.redirect_uri) }
    })

    const finish = { summary: 'Finish a login at a server', ...changing, body: finishBody }
    app.post(
      `${path}/finish`,
      { schema: { ...finish, response: { 200: finishAnswer } } },
      async ({ params, body, headers }) => {
        approver.checkHeaders(headers)
        const logins = await mcp.logins()
        return { login: viewOf(await logins.finish(serverAt(mcp, params.id), body.redirected)) }
      },
    )

    const end = { summary: 'End the login at a server', ...changing, body: logoutBody }
    app.post(
      '/servers/:id/logout',
      { schema: { ...end, response: { 200: logoutAnswer } } },
      async ({ params, body, headers }) => {
        approver.checkHeaders(headers)
        const logins = await mcp.logins()
        const server = mcp.serverState(params.id)?.server
        // the login of a server that is configured no more can be ended, too
        return logins.end(server, { server_id: params.id, agent_id: body.agent_id ?? '' })
      },
    )
  }

const serverAt = (mcp: Mcp, id: string): McpServer => {
  const state = mcp.serverState(id)
  if (state !== undefined) return state.server
  const known = mcp.serverStates().map(({ server }) => server.id)
  throw new GuardError(mcpErrors.MCP_SERVER_NOT_FOUND, undefined, { known })
}

interface Params {
  readonly server_id: string
}

/** Streamable HTTP towards clients: `/mcp/{server_id}`. The gateway has judged target, host, origin and key before. */
const transportRoutes = (mcp: Mcp) => async (app: FastifyInstance) => {
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

/** The body of a request, whole. Rejects with BODY_TOO_LARGE above `limit` bytes, and with INVALID_BODY if the client leaves. */
const bodyOf = (request: IncomingMessage, limit: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) return reject(tooLarge(limit))
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      chunks.push(chunk)
      if (length <= limit) return
      request.pause()
      reject(tooLarge(limit))
    })
    request.on('end', () => {
      const [first] = chunks
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, length))
    })
    request.on('error', (cause) => reject(new GuardError('INVALID_BODY', undefined, { cause })))
    request.on('close', () => {
      if (!request.complete) reject(new GuardError('INVALID_BODY'))
    })
  })

/** Nothing more is read from this connection. */
const tooLarge = (limit: number): GuardError =>
  new GuardError('BODY_TOO_LARGE', `The message is larger than ${limit} bytes (mcp.limits.frame_bytes).`, {
    headers: { connection: 'close' },
  })

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE', 'OPTIONS'])
const ALLOW = 'GET, POST, DELETE'

/** Refuses a verb that the transport does not have. Throws METHOD_NOT_ALLOWED. */
const checkMethod = (method: string): void => {
  if (METHODS.has(method)) return
  throw new GuardError('METHOD_NOT_ALLOWED', `MCP takes ${ALLOW}, not ${method}.`, { headers: { allow: ALLOW } })
}

/** Refuses `Content-Type` and `Accept` values that MCP does not have. Throws UNSUPPORTED_MEDIA_TYPE, NOT_ACCEPTABLE. */
const checkMedia = (method: string, headers: IncomingHttpHeaders): void => {
  const { 'content-type': type, 'content-encoding': coding = 'identity', accept } = headers
  if (method === 'POST' && coding !== 'identity')
    throw new GuardError('UNSUPPORTED_MEDIA_TYPE', 'A message of MCP is sent without a content-encoding.')
  if (method === 'POST' && type !== JSON_TYPE && essence(type ?? '') !== JSON_TYPE)
    throw new GuardError('UNSUPPORTED_MEDIA_TYPE', 'A message of MCP is application/json.')
  if (method === 'POST') {
    // what clients of the official libraries send needs no reading
    if (accept !== USUAL && (!takes(accept, JSON_TYPE) || !takes(accept, EVENTS)))
      throw new GuardError(mcpErrors.NOT_ACCEPTABLE, `Accept must name application/json and ${EVENTS}.`)
  } else if (method === 'GET' && !takes(accept, EVENTS))
    throw new GuardError(mcpErrors.NOT_ACCEPTABLE, `Accept must name ${EVENTS}.`)
}

const JSON_TYPE = 'application/json'
const EVENTS = 'text/event-stream'
const USUAL = `${JSON_TYPE}, ${EVENTS}`

const essence = (type: string): string => type.split(';', 1)[0]?.trim().toLowerCase() ?? ''

const takes = (accept: string | undefined, mediaType: string): boolean => {
  const family = `${mediaType.split('/', 1)[0]}/*`
  return (accept ?? '').split(',').some((entry) => {
    const type = essence(entry)
    return type === mediaType || type === '*/*' || type === family
  })
}

const params = Type.Object({ server_id: Type.String({ description: 'The id of a configured MCP server.' }) })
const session = Type.Object({
  'mcp-session-id': Type.Optional(Type.String({ description: 'From the answer to initialize; all else needs it.' })),
  'mcp-protocol-version': Type.Optional(Type.String()),
})
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'docs', version: '1' } },
}
const frame = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    method: Type.Optional(Type.String()),
    params: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { additionalProperties: true, examples: [initialize] },
)
const events = { 'text/event-stream': { schema: Type.String({ description: 'Server-sent events, a frame each.' }) } }

type Described = FastifySchema & { readonly summary: string; readonly tags: readonly string[] }

const described = (summary: string, more: FastifySchema): Described => ({
  summary,
  tags: ['mcp'],
  params,
  headers: session,
  ...more,
})

/** What the API description says of the transport, by method. */
const transportSchemas: Readonly<Record<'POST' | 'GET' | 'DELETE', Described>> = {
  POST: described('Send one JSON-RPC frame to an MCP server, through the policy', {
    body: frame,
    response: {
      200: {
        description: 'The answer to a request.',
        content: { 'application/json': { schema: frame }, ...events },
      },
      202: { description: 'A notification or an answer was taken.', type: 'null' },
    },
  }),
  GET: described('Listen to what an MCP server sends of itself', {
    response: { 200: { description: 'Frames until either side ends.', content: events } },
  }),
  DELETE: described('End an MCP session, here and at the server', {
    response: { 200: { description: 'The session is over.', type: 'null' } },
  }),
}
