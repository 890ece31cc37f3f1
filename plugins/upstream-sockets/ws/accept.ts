import { isUtf8 } from 'node:buffer'
import type { AcceptRequest, MessageSocket } from 'guard-gateway/lib/upstream-client'
import { WebSocketServer } from 'ws'
import { commonOptions, WsMessageSocket } from './message-socket.ts'

/** Answers a handshake with 101. */
export const accept = ({
  request,
  socket,
  head,
  headers,
  max_bytes,
}: AcceptRequest): Promise<MessageSocket | undefined> => {
  const server = new WebSocketServer({
    ...commonOptions,
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: max_bytes,
    handleProtocols: () => false,
  })
  server.on('headers', (lines) => lines.push(...headerLines(headers)))
  return new Promise((resolve) => {
    const left = (): void => resolve(undefined)
    socket.once('close', left)
    server.handleUpgrade(request, socket, head, (accepted) => {
      socket.off('close', left)
      resolve(new WsMessageSocket(accepted, socket))
    })
  })
}

/** Header lines as text that is written as UTF-8; a value of other bytes beyond ASCII is left out. */
function* headerLines(headers: readonly string[]): Iterable<string> {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const value = textOf(headers[index + 1] ?? '')
    if (value !== undefined) yield `${headers[index]}: ${value}`
  }
}

const textOf = (value: string): string | undefined => {
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : undefined
}
