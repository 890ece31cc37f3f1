import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

const LINGER_MS = 2_000
const MAX_BYTES = 128 * 1024 * 1024

/**
 * Discards the rest of a refused request's body for a moment after the last response of its connection.
 * A connection that is closed with bytes unread is reset, and clients that still write lose the response then.
 */
export const lingeringClose = (request: IncomingMessage): void => {
  const { socket } = request
  if (request.complete || !(socket instanceof Socket)) return
  const close = socket.destroySoon
  socket.destroySoon = () => {
    socket.destroySoon = close
    if (request.complete || request.destroyed) return socket.destroySoon()
    socket.end()
    const end = (): void => {
      clearTimeout(late)
      socket.destroySoon()
    }
    const late = setTimeout(end, LINGER_MS)
    let left = MAX_BYTES
    const drop = (chunk: Buffer): void => {
      left -= chunk.length
      if (left < 0) end()
    }
    request.removeAllListeners('data').on('data', drop).on('end', end).on('close', end).resume()
  }
}
