import { mcpTransport } from 'guard-gateway/lib/mcp-transport'

/** MCP servers that are child processes: one message a line on their standard input and output. */
export const stdio = mcpTransport({
  id: 'stdio',
  open: async (server, session) => (await import('./stdio/link.ts')).openStdioLink(server, session),
})
