import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import type { Request as ExpressRequest } from 'express'
import type { AuthorizationServer } from './authorization-server.ts'
import { bearerAuth, listenOnLoopback, resourceMetadata } from './guarded-mcp-server.ts'

/** An MCP server that speaks HTTP+SSE, as the official SDK made them until 2025. */
export interface SseServer extends AsyncDisposable {
  /** Where its stream is. */
  readonly url: string
  /** Methods and paths that were asked for. */
  readonly asked: string[]
  /** Values of `authorization` that came. */
  readonly shown: (string | undefined)[]
  /** Ends the streams that are open, as a proxy on the way does. */
  cut(): void
  /** Knows none of its sessions any more, though their streams are open. */
  forget(): void
}

export const sseMcpServer = async (make: () => McpServer, authorization?: AuthorizationServer): Promise<SseServer> => {
  const asked: string[] = []
  const shown: (string | undefined)[] = []
  const open = new Map<string, readonly [SSEServerTransport, ServerResponse]>()
  const [server, origin] = await listenOnLoopback((at) => {
    const app = createMcpExpressApp()
    app.use((request: ExpressRequest, _response: ServerResponse, next: () => void) => {
      asked.push(`${request.method} ${request.path}`)
      shown.push(request.headers.authorization)
      next()
    })
    if (authorization !== undefined) {
      app.use(resourceMetadata(authorization, `${at}/sse`))
      app.use(['/sse', '/messages'], bearerAuth(authorization, `${at}/sse`, ['tools:read']))
    }
    app.get('/sse', async (_request: IncomingMessage, response: ServerResponse) => {
      const transport = new SSEServerTransport('/messages', response)
      open.set(transport.sessionId, [transport, response])
      response.once('close', () => open.delete(transport.sessionId))
      await make().connect(transport)
    })
    app.post('/messages', async (request: ExpressRequest, response: ServerResponse) => {
      const [transport] = open.get(String(request.query.sessionId)) ?? []
      if (transport === undefined) response.writeHead(404).end()
      else await transport.handlePostMessage(request, response, request.body)
    })
    return app
  })
  return {
    url: `${origin}/sse`,
    asked,
    shown,
    cut() {
      for (const [, response] of open.values()) response.destroy()
    },
    forget: () => open.clear(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
