import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Follows the connections of a server; what it gives closes those on which nothing was ever sent, as browsers hold some ready: Node counts them among those at work. */
export const closingUnused = (server: Server): (() => void) => {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
}
