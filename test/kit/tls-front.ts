import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import { signed } from './private-authority.ts'

/** TLS in front of a port of this machine that speaks none. */
export interface TlsFront extends AsyncDisposable {
  readonly port: number
}

export const tlsFront = async (target: number, identity = signed): Promise<TlsFront> => {
  const sockets = new Set<Socket>()
  const server = createServer(identity, (client) => {
    const behind = connect(target, '127.0.0.1')
    for (const socket of [client, behind]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        behind.destroy()
      })
    }
    client.pipe(behind).pipe(client)
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
