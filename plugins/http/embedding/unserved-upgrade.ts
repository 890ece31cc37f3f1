import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { wantsWebSocket } from '../connections/upgrade.ts'

/** What offers a protocol, and what settles for HTTP/1.1 without. */
const OFFERS: ReadonlySet<string> = new Set(['upgrade', 'http2-settings'])

/**
 * Leaves an upgrade to the other listeners of the server. Where there is none nobody would ever answer, since Node hands the connection over:
 * a WebSocket is refused, and another request is served without its offer, as a server does that has not been asked to listen for upgrades.
 */
export const leaveUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
  const { server } = request.socket as { readonly server?: Server }
  if (server === undefined || server.listenerCount('upgrade') > 1) return
  socket.on('error', () => socket.destroy())
  if (wantsWebSocket(request)) {
    socket.end(REFUSAL)
    return void setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
  socket.unshift(Buffer.concat([Buffer.from(headOf(request), 'latin1'), head]))
  server.emit('connection', socket)
}

/** How long a client that was refused may take to close. */
const LINGER_MS = 1_000

const REFUSAL =
  'HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: 36\r\n\r\nThere is no WebSocket at this path.\n'

/** The head of a request as it came, without its offer of another protocol. */
const headOf = ({ method, url, httpVersion, rawHeaders }: IncomingMessage): string => {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    const lower = name.toLowerCase()
    if (lower === 'connection') lines.push(`${name}: ${withoutOffers(value)}`)
    else if (!OFFERS.has(lower)) lines.push(`${name}: ${value}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}

const withoutOffers = (value: string): string =>
  value
    .split(',')
    .map((option) => option.trim())
    .filter((option) => !OFFERS.has(option.toLowerCase()))
    .join(', ')
