import type { Agent, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { firstHop, isTunnelled } from 'guard-gateway/lib/network'
import type { UpstreamAddress } from 'guard-gateway/lib/upstream-client'

/** A connection that was not made in time. */
export class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT'
}

/** The reply that a connection carries. */
const replies = new WeakMap<Socket, IncomingMessage>()

/** Remembers which reply a connection carries, so that its silence or its break can end the reply. */
export const carries = (reply: IncomingMessage): void => {
  replies.set(reply.socket, reply)
}

/**
 * Watches every connection that an agent makes, once for its life: it must be made in time, and its replies must neither fall silent
 * nor end with a break. Requests then need no timers of their own.
 */
export const watchConnections = (agent: Agent, address: UpstreamAddress): void => {
  // one agent serves one address, so its connections need no name to be told apart
  agent.getName = () => 'upstream'
  const connect = agent.createConnection
  agent.createConnection = (options, done) => {
    const watched = (error: Error | null, socket: Duplex): void => {
      if (error === null) watch(socket as Socket, address)
      done?.(error, socket)
    }
    const socket = connect.call(agent, options, isTunnelled(address) ? watched : done) as Socket | undefined
    if (socket !== undefined) {
      inTime(socket, address)
      watch(socket, address)
    }
    return socket
  }
}

const inTime = (socket: Socket, address: UpstreamAddress): void => {
  const { proxy, connect_ms } = address
  const place = proxy === undefined ? 'no connection' : `no connection to the proxy ${proxy.shown}`
  const late = setTimeout(() => socket.destroy(new ConnectTimeout(`${place} within ${connect_ms} ms`)), connect_ms)
  const made = () => clearTimeout(late)
  socket.once(firstHop(address).secure ? 'secureConnect' : 'connect', made).once('close', made)
}

const watch = (socket: Socket, { idle_ms }: UpstreamAddress): void => {
  socket.on('timeout', () => silent(socket, idle_ms))
  socket.on('error', (error) => broke(socket, error))
}

const silent = (socket: Socket, idleMs: number): void => {
  const reply = replies.get(socket)
  if (reply === undefined || reply.complete || reply.destroyed) return
  // held back because the client is slow: that is not the upstream's silence
  if (reply.isPaused()) socket.setTimeout(idleMs)
  else setImmediate(cutIfSilent, socket, reply, idleMs, socket.bytesRead)
}

/** Called once what has arrived is read: after a stop or a sleep of this process, timers run first. */
const cutIfSilent = (socket: Socket, reply: IncomingMessage, idleMs: number, bytesRead: number): void => {
  if (reply.complete || reply.destroyed || socket.bytesRead !== bytesRead) return
  reply.destroy(new Error(`the upstream was silent for ${idleMs} ms`))
}

/** Heard before Node hears it, which takes any end of the connection for that of a reply of no announced length. */
const broke = (socket: Socket, error: Error): void => {
  const reply = replies.get(socket)
  if (reply?.complete === false) reply.destroy(error)
}
