import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Listens on loopback at a port of the system's choice; the address. */
export const listening = async (server: Server): Promise<string> => {
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
