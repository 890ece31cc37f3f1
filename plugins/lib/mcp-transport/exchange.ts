import type { McpReply, StreamEvent } from '../mcp-transport.ts'
import type { Queue } from './queue.ts'

/** A request on its way: its answer alone, or a stream from the first message that comes before the answer. */
export class Exchange {
  readonly key: string
  readonly token: string | undefined
  readonly reply: Promise<McpReply>
  readonly #resolve: (reply: McpReply) => void
  readonly #queue: Queue<StreamEvent>
  #streaming = false

  constructor(key: string, token: string | undefined, queue: Queue<StreamEvent>) {
    this.key = key
    this.token = token
    this.#queue = queue
    const { promise, resolve } = Promise.withResolvers<McpReply>()
    this.reply = promise
    this.#resolve = resolve
  }

  /** Where messages before the answer go. */
  stream(): Queue<StreamEvent> {
    if (!this.#streaming) {
      this.#streaming = true
      this.#resolve({ form: 'sse', events: this.#queue, stop: () => this.#queue.end() })
    }
    return this.#queue
  }

  /** The last message; an error in it is reported as in a stream. */
  answer(event: StreamEvent): void {
    if (event.fault !== undefined) this.stream()
    if (this.#streaming) {
      this.#queue.push(event)
      this.#queue.end()
    } else this.#resolve({ form: 'json', status: 200, event })
  }

  /** Nobody waits for an answer any more. */
  cancel(): void {
    if (this.#streaming) this.#queue.end()
    else this.#resolve({ form: 'none', status: 202 })
  }

  /** There will be no answer. */
  fail(reply: McpReply & { form: 'failed' }): void {
    if (this.#streaming) this.#queue.end(new Error(reply.message))
    else this.#resolve(reply)
  }
}
