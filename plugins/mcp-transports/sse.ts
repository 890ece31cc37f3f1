import { mcpTransport } from 'guard-gateway/lib/mcp-transport'

/** MCP servers that speak HTTP+SSE, the transport of the revision 2024-11-05. `http` speaks it, too, where a server knows nothing newer. */
export const sse = mcpTransport({ id: 'sse', open: (server, session) => session.open('http', server) })
