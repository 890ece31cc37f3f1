import { connect, type Socket } from 'node:net'
import { type ParsedReply, ReplyReader } from './reply-reader.ts'
import type { Outgoing, RequestWriter } from './request-writer.ts'

/** A pending request. */
interface PendingReply {
  readonly resolve: (reply: ParsedReply) => void
  readonly reject: (error: Error) => void
}

/** A keep-alive connection of a client, with one request at a time. */
export class Connection {
  readonly #socket: Socket
  readonly #writer: RequestWriter
  readonly #reader = new ReplyReader()
  #waiting: PendingReply | undefined
  #broken: Error | undefined

  private constructor(socket: Socket, writer: RequestWriter) {
    this.#socket = socket
    this.#writer = writer
    socket.on('data', (chunk) => this.#received(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  static open(port: number, writer: RequestWriter): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new Connection(socket, writer))
      })
    })
  }

  /** Sends the next request. Resolves with its reply. Rejects if the connection breaks before the reply is complete. */
  exchange(): Promise<ParsedReply> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== undefined) return reject(this.#broken)
      this.#waiting = { resolve, reject }
      this.#write(this.#writer.next())
    })
  }

  close(): void {
    this.#broken = new Error('the bench closed the connection')
    this.#socket.destroy()
  }

  #write([head, body, tail]: Outgoing): void {
    this.#socket.cork()
    this.#socket.write(head, 'latin1')
    this.#socket.write(body)
    this.#socket.write(tail)
    this.#socket.uncork()
  }

  #received(chunk: Buffer): void {
    try {
      const reply = this.#reader.push(chunk)
      if (reply === undefined) return
      const waiting = this.#waiting
      this.#waiting = undefined
      waiting?.resolve(reply)
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)))
      this.#socket.destroy()
    }
  }

  #fail(error: Error): void {
    this.#broken ??= error
    this.#waiting?.reject(this.#broken)
    this.#waiting = undefined
  }
}
