export * from '../mcp-check.ts'
