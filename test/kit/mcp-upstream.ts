import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that an MCP server got. */
export interface McpAsked {
  readonly method: string
  readonly headers: IncomingMessage['headers']
  readonly raw: string
  /** The message in it; undefined if there is none. */
  readonly message: McpMessage | undefined
}

export interface McpMessage {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
}

/** Answers one request; true if it did. */
export type McpAnswering = (asked: McpAsked, response: ServerResponse) => boolean | Promise<boolean>

/** An MCP server over Streamable HTTP that says what a test wants it to. */
export interface McpUpstream {
  readonly url: string
  readonly asked: readonly McpAsked[]
  /** The messages of this method that came. */
  calls(method: string): readonly McpAsked[]
  /** Tried before what the server does by itself. */
  answering: McpAnswering
  /** Resolves when a request of this verb or method has come. */
  until(name: string): Promise<McpAsked>
  close(): Promise<void>
}

export const TOOLS = [
  { name: 'read_file', inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } },
  { name: 'write_file', inputSchema: { type: 'object' } },
  { name: 'delete_file', inputSchema: { type: 'object' } },
]

/** Sends JSON text as an answer. */
export const sendJson = (response: ServerResponse, text: string, status = 200, headers: object = {}): true => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  return true
}

/** Begins an event stream. */
export const beginEvents = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' })

const initialized = (version: unknown) => ({
  protocolVersion: version,
  capabilities: { tools: { listChanged: true }, logging: {} },
  serverInfo: { name: 'scripted', version: '1.0.0' },
})

const plain: McpAnswering = ({ method, message }, response) => {
  if (method === 'GET') {
    response.writeHead(405).end()
    return true
  }
  if (method === 'DELETE') {
    response.writeHead(200).end()
    return true
  }
  const { id, method: name, params = {} } = message ?? {}
  if (id === undefined || name === undefined) {
    response.writeHead(202).end()
    return true
  }
  const reply = (result: unknown, headers: object = {}) =>
    sendJson(response, JSON.stringify({ jsonrpc: '2.0', id, result }), 200, headers)
  if (name === 'initialize')
    return reply(initialized(params.protocolVersion), { 'mcp-session-id': 'upstream-session-1' })
  if (name === 'tools/list') return reply({ tools: TOOLS })
  return reply({ content: [{ type: 'text', text: JSON.stringify(params) }] })
}

/** `port`: one that was given before; any if absent. */
export const mcpUpstream = async (port = 0): Promise<McpUpstream> => {
  const asked: McpAsked[] = []
  const waiting: { name: string; found(one: McpAsked): void }[] = []
  const fits = (name: string) => (one: McpAsked) => one.method === name || one.message?.method === name
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const raw = Buffer.concat(chunks).toString()
    const message = raw === '' ? undefined : (JSON.parse(raw) as McpMessage)
    const one = { method: request.method ?? '', headers: request.headers, raw, message }
    asked.push(one)
    for (const { name, found } of waiting) if (fits(name)(one)) found(one)
    if (!(await upstream.answering(one, response))) await plain(one, response)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const upstream: McpUpstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    asked,
    calls: (method) => asked.filter(({ message }) => message?.method === method),
    answering: () => false,
    until: (name) => {
      const there = asked.find(fits(name))
      return there === undefined ? new Promise((found) => waiting.push({ name, found })) : Promise.resolve(there)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return upstream
}
