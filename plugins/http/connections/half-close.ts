import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** When a client that said no more will come is tried: after so many milliseconds, then every so many. */
const PROBES_MS = [250, 250, 2_000, 15_000] as const

/** As much of Node's server as its declarations leave out: without it, the end of what a client sends ends the connection. */
interface HalfOpen {
  httpAllowHalfOpen: boolean
}

/** The response that a connection is busy with, under the name that Node gives it. */
interface Busy {
  readonly _httpMessage?: ServerResponse | null
}

/**
 * Serves clients that close their half of a connection after a request. A client that has left altogether looks the same, so bytes
 * are sent to tell: informational responses until the reply has begun. Once it has, the end of the client's half is taken for its leave.
 */
export const serveHalfClosed = (server: Server): void => {
  const halfOpen = server as Server & HalfOpen
  halfOpen.httpAllowHalfOpen = true
  server.on('connection', (socket: Socket) => void socket.on('end', onEnd))
}

function onEnd(this: Socket): void {
  const response = (this as Socket & Busy)._httpMessage
  if (response === undefined || response === null || response.writableEnded) return
  // HTTP/1.0 knows no informational responses; proxies that speak it close the connection when their client leaves
  if (response.headersSent || response.req.httpVersion === '1.0') this.destroy()
  else probe(this, response, 0)
}

/** The system of a client that has left answers by a reset, which the next write finds. */
const probe = (socket: Socket, response: ServerResponse, turn: number): void => {
  const wait = PROBES_MS[Math.min(turn, PROBES_MS.length - 1)]
  const timer = setTimeout(() => {
    if (response.headersSent || socket.destroyed) return
    response.writeProcessing()
    probe(socket, response, turn + 1)
  }, wait)
  response.once('close', () => clearTimeout(timer))
}
