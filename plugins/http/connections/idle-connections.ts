import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Tracks the connections of a server; the result closes those without a single byte. Browsers open such spare connections, and Node counts them as active. */
export const trackIdleConnections = (server: Server): (() => void) => {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
}
