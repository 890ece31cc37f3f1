import type { ServerResponse } from 'node:http'
import { messageEvent } from 'guard-gateway/lib/sse'

const RETRY_MS = 100

/** A stream of events that can be taken up again: every event is kept, with its number. */
export class ResumableStream {
  readonly name: string
  readonly #events: string[] = []
  #response: ServerResponse | undefined
  #ended = false

  constructor(name: string) {
    this.name = name
  }

  /** Sends the stream to a client, from after the event of this number on. */
  open(response: ServerResponse, behind: number): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    this.#response = response
    response.once('close', () => {
      if (this.#response === response) this.#response = undefined
    })
    if (behind < 0) this.#prime()
    for (const event of this.#events.slice(behind + 1)) response.write(event)
    if (this.#ended) response.end()
  }

  /** The first event is empty: it gives the client an id to come back with. */
  #prime(): void {
    this.#keep(`retry: ${RETRY_MS}\ndata: \n\n`)
  }

  /** Buffers an event; without a listener `open` sends it later. */
  #keep(event: string): void {
    this.#events.push(`id: ${this.name}-${this.#events.length}\n${event}`)
  }

  send(json: string): void {
    this.#keep(messageEvent(json))
    this.#response?.write(this.#events.at(-1))
  }

  /** Writes what is no event. */
  scribble(text: string): void {
    this.#response?.write(text)
  }

  /** Closes the connection; what is sent from now on is kept. */
  letGo(): void {
    this.#response?.end()
    this.#response = undefined
  }

  /** Nothing follows. */
  end(): void {
    this.#ended = true
    this.letGo()
  }

  /** Breaks the connection. */
  destroy(): void {
    this.#response?.destroy()
  }
}
