import { mcpTransport } from 'guard-gateway/lib/mcp-transport'

/** MCP servers that speak Streamable HTTP. */
export const http = mcpTransport({
  id: 'http',
  open: async (server, session) => (await import('./http/link.ts')).openHttpLink(server, session),
})
