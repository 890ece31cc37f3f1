import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { PGlite } from '@electric-sql/pglite'

/** The first message of a connection has no type before its length. */
const STARTUP_HEAD = 4
const HEAD = 5
/** Types of the messages that end what the client waits for: query, sync. */
const ENDS = new Set(['Q', 'S'].map((letter) => letter.charCodeAt(0)))
const TERMINATE = 'X'.charCodeAt(0)

/** PostgreSQL in WebAssembly behind a port of this machine. It has one session, so it takes one connection at a time. */
export class PgliteServer {
  readonly #db: PGlite
  readonly #server: Server
  #last: Promise<unknown> = Promise.resolve()
  readonly #sockets = new Set<Socket>()

  private constructor(db: PGlite) {
    this.#db = db
    this.#server = createServer((socket) => this.#serve(socket))
  }

  static async start(): Promise<PgliteServer> {
    const server = new PgliteServer(await PGlite.create())
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get url(): string {
    return `postgres://postgres:postgres@127.0.0.1:${(this.#server.address() as AddressInfo).port}/postgres`
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await this.#last
    await this.#db.close()
  }

  #serve(socket: Socket): void {
    let waiting: Buffer<ArrayBufferLike> = Buffer.alloc(0)
    let isStarted = false
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('data', (bytes) => {
      waiting = Buffer.concat([waiting, bytes])
      if (!isStarted) {
        const length = waiting.length < STARTUP_HEAD ? Number.POSITIVE_INFINITY : waiting.readInt32BE(0)
        if (waiting.length < length) return
        isStarted = true
        this.#run(socket, waiting.subarray(0, length))
        waiting = waiting.subarray(length)
      }
      const end = endOf(waiting)
      if (end === 0) return
      this.#run(socket, waiting.subarray(0, end))
      waiting = waiting.subarray(end)
    })
  }

  /** Runs whole messages, after those before. */
  #run(socket: Socket, messages: Uint8Array): void {
    this.#last = this.#last.then(async () => {
      if (messages[0] === TERMINATE) {
        // a session of PostgreSQL takes these with it
        await this.#db.exec('deallocate all')
        socket.end()
      } else socket.write(await this.#db.execProtocolRaw(messages))
    })
    this.#last.catch((error: unknown) => socket.destroy(error instanceof Error ? error : undefined))
  }
}

/** Where the last of the messages ends that the client waits for; 0 if it is not there yet. */
const endOf = (bytes: Buffer): number => {
  let end = 0
  let at = 0
  while (at + HEAD <= bytes.length) {
    const type = bytes[at] ?? 0
    const next = at + 1 + bytes.readInt32BE(at + 1)
    if (next > bytes.length) break
    if (ENDS.has(type) || type === TERMINATE || type === 'p'.charCodeAt(0)) end = next
    at = next
  }
  return end
}
