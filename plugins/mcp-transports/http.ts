import { mcpTransport } from 'guard-gateway/lib/mcp-transport'
import { openHttpLink } from './http/link.ts'

/** MCP servers that speak Streamable HTTP. */
export const http = mcpTransport({ id: 'http', open: openHttpLink })
