export * from '../mcp-transport.ts'
