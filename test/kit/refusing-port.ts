import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** A port on 127.0.0.1 where nobody listens, nor can for as long as this lives: a connection of ours goes out from it. */
export interface RefusingPort extends AsyncDisposable {
  readonly port: number
}

export const refusingPort = async (): Promise<RefusingPort> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const out = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [inside] = await Promise.all([once(server, 'connection'), once(out, 'connect')])
  const { localPort } = out
  if (localPort === undefined) throw new Error('The connection has no port of its own.')
  return {
    port: localPort,
    [Symbol.asyncDispose]: async () => {
      inside[0].destroy()
      out.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
