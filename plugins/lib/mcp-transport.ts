import { contribution, Kind } from 'guard-gateway/core'
import type { McpTransport, OwnMcpServer } from './mcp-transport/types.ts'

export { ServerChannel, SessionSetup, type Source } from './mcp-transport/channel.ts'
export type {
  CredentialRefusal,
  Lost,
  McpLink,
  McpLogin,
  McpLoginSettings,
  McpReply,
  McpServer,
  McpSession,
  McpTransport,
  NoCredential,
  OwnMcpServer,
  PassedHeaders,
  StreamEvent,
} from './mcp-transport/types.ts'

export const mcpTransportKind = new Kind<McpTransport>('MCP transport', { open: 'function' })

export const ownMcpServerKind = new Kind<OwnMcpServer>('own MCP server', { transport: 'text' })

/** A way to MCP servers; `transport` of a configured server chooses it. */
export const mcpTransport = contribution('mcp-transport', mcpTransportKind)
