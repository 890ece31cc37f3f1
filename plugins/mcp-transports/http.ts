import { mcpTransport } from 'guard-gateway/lib/mcp-transport'

/** MCP servers that speak Streamable HTTP, or HTTP+SSE as those of 2024. */
export const http = mcpTransport({
  id: 'http',
  open: async (server, session) => (await import('./http/fallback-link.ts')).openHttpLink(server, session),
})
