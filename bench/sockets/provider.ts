import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { WebSocketServer } from 'ws'
import { onMessage, waitForParent } from '../load/message-handlers.ts'

/** Pieces of a response, and milliseconds between two of them: about what a model writes. */
export const PIECES = 60
const INTERVAL_MS = 20

const usage = { input_tokens: 200, output_tokens: PIECES, total_tokens: 200 + PIECES }
let responses = 0

/** Sends a response piece by piece; each says when it was sent, in nanoseconds of the monotonic clock of the machine. */
const respond = (send: (event: { readonly type: string }) => void, end: () => void): void => {
  responses++
  const response = { id: `resp_${responses}`, object: 'response', model: 'bench', output: [] }
  send({ type: 'response.created', response: { ...response, status: 'in_progress' } } as { type: string })
  let left = PIECES
  const timer = setInterval(() => {
    if (left-- > 0) {
      const at = String(process.hrtime.bigint())
      const where = { item_id: 'msg_1', output_index: 0, content_index: 0, sequence_number: PIECES - left }
      return send({ type: 'response.output_text.delta', ...where, delta: ' word', at } as { type: string })
    }
    clearInterval(timer)
    send({ type: 'response.completed', response: { ...response, status: 'completed', usage } } as { type: string })
    end()
  }, INTERVAL_MS)
}

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
const server = createServer((request, response) => {
  void text(request).then(() => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    respond(
      (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
      () => response.end(),
    )
  })
})
server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
  sockets.handleUpgrade(request, socket, head, (accepted) => {
    accepted.on('error', () => {})
    accepted.on('message', () =>
      respond(
        (event) => accepted.send(JSON.stringify(event)),
        () => {},
      ),
    )
  }),
)

onMessage(
  'listen',
  () =>
    new Promise((resolve) => {
      server.listen({ host: '127.0.0.1', port: 0, backlog: 2048 }, () =>
        resolve((server.address() as AddressInfo).port),
      )
    }),
)
waitForParent()
