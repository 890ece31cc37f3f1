import type { Agent } from 'node:http'
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { openTunnel, secureOptions } from 'guard-gateway/lib/network'
import type { UpstreamAddress } from 'guard-gateway/lib/upstream-client'
import { ConnectTimeout } from './watch.ts'

/** Lets an agent make its connections through the proxy of an address behind TLS. Gives what ends those that are being made. */
export const tunnelAgent = (agent: Agent, address: UpstreamAddress, trust: SecureContext | undefined): (() => void) => {
  const { proxy, hostname, port, connect_ms, idle_ms } = address
  if (proxy === undefined) throw new TypeError('there is no proxy to make tunnels')
  const { connect } = process.getBuiltinModule('node:tls')
  const making = new Set<Socket>()
  agent.createConnection = (_options, done) => {
    const begun = performance.now()
    const late = setTimeout(() => tunnel.destroy(lateness(proxy.shown, connect_ms)), connect_ms)
    const tunnel = openTunnel({ proxy, hostname, port, trust }, (error) => {
      clearTimeout(late)
      making.delete(tunnel)
      if (error !== undefined) return done?.(error, tunnel)
      const socket = connect({ socket: tunnel, ...secureOptions(hostname, trust) })
      socket.setNoDelay(true).setKeepAlive(true, 30_000).setTimeout(idle_ms)
      const left = setTimeout(
        () => socket.destroy(lateness(proxy.shown, connect_ms)),
        Math.max(connect_ms - (performance.now() - begun), 0),
      )
      socket.once('secureConnect', () => clearTimeout(left)).once('close', () => clearTimeout(left))
      done?.(null, socket)
    })
    making.add(tunnel)
    return undefined
  }
  return () => {
    for (const tunnel of making) tunnel.destroy()
  }
}

const lateness = (shown: string, connect_ms: number): ConnectTimeout =>
  new ConnectTimeout(`no connection through the proxy ${shown} within ${connect_ms} ms`)
