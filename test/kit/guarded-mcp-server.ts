import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { mcpAuthMetadataRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Request as ExpressRequest, RequestHandler, Response } from 'express'
import type { AuthorizationServer } from './authorization-server.ts'

/** An MCP server behind a login, as the official SDK makes one. */
export interface GuardedServer extends AsyncDisposable {
  /** Of its MCP endpoint. */
  readonly url: string
  /** Values of `authorization` that came to the MCP endpoint, in order; undefined: none. */
  readonly shown: (string | undefined)[]
  /** Calls of its tools that ran. */
  readonly ran: string[]
  /** Answers in its place; true: it has. */
  answering: (request: IncomingMessage, response: ServerResponse) => boolean
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Serves an application on loopback; the server is told first, for its address. */
export const listenOnLoopback = async (make: (origin: string) => Handler): Promise<[Server, string]> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  server.on('request', make(origin))
  return [server, origin]
}

/** Who may come in: whoever has a live token that was issued for this server. */
export const bearerAuth = (
  authorization: AuthorizationServer,
  resource: string,
  scopes: readonly string[] = [],
): RequestHandler =>
  requireBearerAuth({
    verifier: {
      async verifyAccessToken(token) {
        const found = await authorization.token(token)
        if (found === undefined) throw new InvalidTokenError('Unknown token')
        if (![found.aud].flat().includes(resource)) throw new InvalidTokenError('Not for this server')
        return { token, clientId: found.clientId, scopes: found.scope?.split(' ') ?? [], expiresAt: found.exp }
      },
    },
    requiredScopes: [...scopes],
    resourceMetadataUrl: `${new URL(resource).origin}/.well-known/oauth-protected-resource${new URL(resource).pathname}`,
  })

/** The metadata of a protected resource, as the SDK serves them. */
export const resourceMetadata = ({ issuer }: AuthorizationServer, resource: string): RequestHandler =>
  mcpAuthMetadataRouter({
    oauthMetadata: {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ['code'],
    },
    resourceServerUrl: new URL(resource),
    scopesSupported: ['tools:read'],
  })

/** A server with two tools: `whoami` needs a login, `write` the scope `tools:write` besides. */
export const toolServer = (ran: string[]): McpServer => {
  const server = new McpServer({ name: 'guarded', version: '1' })
  for (const name of ['whoami', 'write'])
    server.registerTool(name, { description: `Does ${name}.` }, async () => {
      ran.push(name)
      return { content: [{ type: 'text' as const, text: `${name} ran` }] }
    })
  return server
}

export const guardedMcpServer = async (authorization: AuthorizationServer): Promise<GuardedServer> => {
  const shown: (string | undefined)[] = []
  const ran: string[] = []
  let answering: GuardedServer['answering'] = () => false
  const [server, origin] = await listenOnLoopback((at) => {
    const app = createMcpExpressApp()
    const url = `${at}/mcp`
    app.use((request: ExpressRequest, response: Response, next: () => void) => {
      if (request.path === '/mcp') shown.push(request.headers.authorization)
      if (!answering(request, response)) next()
    })
    app.use(resourceMetadata(authorization, url))
    app.use('/mcp', bearerAuth(authorization, url, ['tools:read']))
    app.use('/mcp', (request: ExpressRequest, response: Response, next: () => void) =>
      request.body?.params?.name === 'write'
        ? bearerAuth(authorization, url, ['tools:read', 'tools:write'])(request, response, next)
        : next(),
    )
    app.all('/mcp', async (request: ExpressRequest, response: Response) => {
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
      await toolServer(ran).connect(transport as Parameters<McpServer['connect']>[0])
      await transport.handleRequest(request, response, request.body)
    })
    return app
  })
  return {
    url: `${origin}/mcp`,
    shown,
    ran,
    get answering() {
      return answering
    },
    set answering(next) {
      answering = next
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
