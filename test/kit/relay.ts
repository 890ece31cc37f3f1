import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/**
 * What happens to bytes on their way to the server: they pass, they are lost with the connection, or they pass and the answer is
 * lost with the connection: `deaf`. With `hung` nothing passes any more, and the connection stays.
 */
export type Fate = 'pass' | 'lose' | 'deaf' | 'hung'

/** A TCP relay to a port of this machine that can cut connections at a chosen moment. */
export class Relay {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #port: number
  /** Asked for each chunk of bytes to the server. */
  fate: (bytes: Buffer) => Fate = () => 'pass'
  /** Time that an answer takes longer, in milliseconds. */
  delay_ms = 0
  /** How many connections were cut. */
  cuts = 0

  constructor(port: number) {
    this.#port = port
    this.#server = createServer((client) => this.#serve(client))
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cutAll()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #serve(client: Socket): void {
    const upstream = connect(this.#port, '127.0.0.1')
    let isCut = false
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#sockets.delete(socket)
        // what the server has been given it may still work on
        if (!(isCut && socket === client)) other.destroy()
      })
    }
    const cut = (): void => {
      isCut = true
      this.cuts++
      client.destroy()
    }
    client.on('data', (bytes) => {
      const fate = isCut ? 'hung' : this.fate(bytes)
      if (fate === 'hung') isCut = true
      else if (fate === 'lose') {
        cut()
        upstream.destroy()
      } else upstream.write(bytes)
      if (fate === 'deaf') cut()
    })
    upstream.on('data', (bytes) => {
      if (isCut) return
      if (this.delay_ms === 0) client.write(bytes)
      else setTimeout(() => client.writable && client.write(bytes), this.delay_ms)
    })
    upstream.on('end', () => client.destroy())
  }
}
