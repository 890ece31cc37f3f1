import { mcpTransport } from 'guard-gateway/lib/mcp-transport'
import { openStdioLink } from './stdio/link.ts'

/** MCP servers that are child processes: one message a line on their standard input and output. */
export const stdio = mcpTransport({ id: 'stdio', open: openStdioLink })
