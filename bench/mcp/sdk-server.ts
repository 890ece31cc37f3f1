import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { called, toolList } from './policy.ts'

// The bench server with the official SDK, as most users build one, with a transport per session. It responds with event streams, the default of the SDK, or with JSON.
const enableJsonResponse = process.argv[2] === 'json'

const transports = new Map<string, StreamableHTTPServerTransport>()

const open = async (): Promise<StreamableHTTPServerTransport> => {
  const server = new Server({ name: 'bench', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => toolList as never)
  server.setRequestHandler(CallToolRequestSchema, () => called)
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse,
    onsessioninitialized: (id) => void transports.set(id, transport),
  })
  await server.connect(transport as Parameters<Server['connect']>[0])
  return transport
}

const server = createServer(async (request, response) => {
  const id = request.headers['mcp-session-id']
  const transport = typeof id === 'string' ? transports.get(id) : await open()
  if (transport === undefined) response.writeHead(404).end()
  else await transport.handleRequest(request, response)
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp\n`)
})
