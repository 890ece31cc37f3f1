import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { called, toolList } from './policy.ts'

// A minimal MCP server with JSON responses. The baseline for the cost of the proxy.

const initialized = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'bench', version: '1' },
}
const results: Readonly<Record<string, object>> = {
  initialize: initialized,
  'tools/list': toolList,
  'tools/call': called,
}

const answer = (response: ServerResponse, body: Buffer): void => {
  const { id, method } = JSON.parse(body.toString()) as { readonly id?: unknown; readonly method: string }
  if (id === undefined) return void response.writeHead(202).end()
  const json = JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) }
  response.writeHead(200, method === 'initialize' ? { ...headers, 'mcp-session-id': 'bench' } : headers).end(json)
}

const server = createServer((request, response) => {
  if (request.method === 'POST') void buffer(request).then((body) => answer(response, body))
  else response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp\n`)
})
