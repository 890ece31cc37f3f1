import { once } from 'node:events'
import { PassThrough, pipeline } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { LineReader, LineWriter, readFrame } from '#lib/json-rpc'
import { type ClientResponse, errorResponse, type OutgoingMessage } from '../relay/response.ts'
import type { ClientSession } from '../session/client-session.ts'

/** Standard input and output of a client. */
export interface Pipes {
  readonly in: NodeJS.ReadableStream
  readonly out: NodeJS.WritableStream
}

/** The client at the other end of our standard input and output: one message a line, in both directions. */
export class StdioServer {
  readonly #in: NodeJS.ReadableStream
  readonly #out: LineWriter
  readonly #running: ClientSession
  readonly #lines: LineReader
  /** Messages being handled. They are taken up in order; calls are judged at the same time. */
  readonly #under = new Set<Promise<void>>()
  #relayed: Promise<void> = Promise.resolve()
  /** Resolves when all of an input that has ended is taken up. */
  #read: Promise<void> = Promise.resolve()
  #ended = false
  /** When the last message was handled; monotonic, milliseconds. */
  #moved = 0

  constructor(pipes: Pipes, running: ClientSession) {
    this.#in = pipes.in
    this.#out = new LineWriter(pipes.out)
    this.#running = running
    this.#lines = new LineReader(
      running.session.frame_bytes,
      (line) => this.#take(line),
      () => this.#tooLong(),
    )
  }

  /** Resolves when the client reads no more. */
  get left(): Promise<void> {
    return this.#out.over
  }

  /** Relays until the client has ended its input and what it sent is taken up, or the server takes none of it. */
  async serve(): Promise<void> {
    const { session, clientRelay } = this.#running
    session.listen((out) => void this.#write(out))
    this.#relayed = this.#pump(await clientRelay.listen(undefined))
    // the end of the input is seen after the messages that wait
    const held = new PassThrough({ highWaterMark: session.frame_bytes })
    pipeline(this.#in, held, () => {})
    this.#read = this.#readAll(held)
    await Promise.race([this.#read, this.#stuck()])
  }

  async #readAll(input: PassThrough): Promise<void> {
    for await (const chunk of input) {
      this.#lines.push(chunk)
      await this.#out.room
      while (this.#under.size > MAX_UNDER) await Promise.race(this.#under)
    }
    this.#lines.end()
    await this.#taken()
  }

  /** Resolves when the input has ended and nothing of it is taken up any more. */
  async #stuck(): Promise<void> {
    await once(this.#in, 'end')
    this.#ended = true
    this.#moved = performance.now()
    for (let left = STUCK_MS; left > 0; left = this.#moved + STUCK_MS - performance.now())
      await setTimeout(left, undefined, { ref: false })
  }

  /** Resolves when everything in hand has been taken up. */
  async #taken(): Promise<void> {
    await Promise.all([...this.#under])
  }

  /** The server has exited: relays its last messages, and answers all pending requests with the reason. */
  async abandon(reason: string): Promise<void> {
    await (this.#ended ? this.#read : this.#taken())
    await this.#relayed
    for (const out of this.#running.clientRelay.abandon(reason)) await this.#write(out)
  }

  #take(line: Buffer): void {
    this.#follow(this.#answered(readFrame(line, 'client')))
  }

  async #answered(frame: ReturnType<typeof readFrame>): Promise<void> {
    await this.#pump(await this.#running.clientRelay.take(frame))
  }

  async #pump(answer: ClientResponse): Promise<void> {
    if (answer.form === 'json') await this.#write(answer)
    if (answer.form === 'sse') for await (const out of answer.events) await this.#write(out)
  }

  #tooLong(): void {
    const message = `The message is longer than ${this.#running.session.frame_bytes} bytes.`
    void this.#write(errorResponse(400, undefined, -32600, message))
  }

  /** Writes one message; resolves when there is room for more. */
  async #write({ message }: Pick<OutgoingMessage, 'message'>): Promise<void> {
    if (message !== undefined) await this.#out.write(message)
  }

  #follow(work: Promise<void>): void {
    const followed = work
      .catch(() => {})
      .finally(() => {
        this.#under.delete(followed)
        this.#moved = performance.now()
      })
    this.#under.add(followed)
  }
}

/** While more messages than this are being handled, no more are read. */
const MAX_UNDER = 256
/** For how long the server may take up nothing of what is left of an input that has ended. */
const STUCK_MS = 1_000
