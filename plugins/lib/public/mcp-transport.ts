export {
  type Lost,
  type McpLink,
  type McpLogin,
  type McpReply,
  type McpServer,
  type McpSession,
  mcpTransport,
  type NoCredential,
  type PassedHeaders,
  ServerChannel,
  SessionSetup,
  type StreamEvent,
} from '../mcp-transport.ts'
