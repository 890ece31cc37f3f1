import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// The baseline: a Node proxy that only forwards bytes.

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

const forward = (asked: IncomingMessage, response: ServerResponse, port: number, body: Buffer): void => {
  const { method, url, headers } = asked
  const outgoing = request({ agent, host: '127.0.0.1', port, method, path: url, headers }, (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.rawHeaders)
    reply.pipe(response)
  })
  outgoing.on('error', () => response.destroy())
  outgoing.end(body)
}

/** Starts a pass-through to the provider at the port `upstream`. Resolves to its own port. */
export const listenAsPassthrough = (upstream: number): Promise<number> => {
  const server = createServer((asked, response) => {
    const chunks: Buffer[] = []
    asked.on('data', (chunk: Buffer) => chunks.push(chunk))
    asked.on('end', () => forward(asked, response, upstream, Buffer.concat(chunks)))
  })
  return new Promise((resolve) => {
    server.listen({ host: '127.0.0.1', port: 0, backlog: 2048 }, () => resolve((server.address() as AddressInfo).port))
  })
}
