import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { mcpTransportConforms, startGateway } from 'guard-gateway/test'
import { tcp } from '../../examples/custom-transport.ts'

/** A server of one tool, `echo`, on a port of the system's choice. */
const echoServer = async () => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    createInterface({ input: socket }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      if (id !== undefined && method !== undefined)
        socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params) })}\n`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { target: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

const resultOf = (method: string, params: { protocolVersion?: string }) => {
  if (method === 'initialize')
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'echo', version: '1' },
    }
  if (method === 'tools/list') return { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }
  return {}
}

mcpTransportConforms(tcp, async () => {
  const { target, close } = await echoServer()
  const server = {
    id: 'echo',
    name: 'echo',
    transport: 'tcp',
    target,
    headers: {},
    timeout_ms: 5_000,
    args: [],
    env: {},
  }
  return { server, close }
})

test('a client of the gateway sees the tools behind the transport, and is told when the server is gone', async () => {
  const { target, close } = await echoServer()
  const gateway = await startGateway({
    plugins: [tcp],
    config: `mcp: { servers: { echo: { transport: tcp, target: "${target}" } } }`,
  })
  try {
    const accept = { accept: 'application/json, text/event-stream' }
    const initialize = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    }
    const ask = (id: number, method: string, params: object, headers: object = {}) =>
      gateway.request('POST', '/mcp/echo', { jsonrpc: '2.0', id, method, params }, { ...accept, ...headers })
    const opened = await ask(1, 'initialize', initialize)
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    await gateway.request(
      'POST',
      '/mcp/echo',
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { ...accept, ...session },
    )
    const listed = await ask(2, 'tools/list', {}, session)
    assert.match(listed.text, /"name":"echo"/)

    await close()
    const gone = await ask(3, 'tools/list', {}, session)
    assert.match(gone.text, /UPSTREAM_UNREACHABLE/)
  } finally {
    await gateway.close()
    await close()
  }
})
