import {
  type BodyReader,
  type Connections,
  readInto,
  type UpstreamListener,
  type UpstreamRequest,
  type UpstreamResponse,
} from 'guard-gateway/core'

/** More of an answer than a receiver has to say. */
const MAX_BYTES = 65_536

/** An answer as far as it matters: its status stands, whatever becomes of its body. */
export interface Answer {
  readonly status: number
  /** Name, value, name, value … as they came. */
  readonly headers: readonly string[]
  /** The first bytes; fewer if it broke off. */
  readonly body: Buffer
}

/** Sends a request; resolves when its answer has ended, was long enough or took `timeout_ms`. Rejects with why there is none; `signal` ends it. */
export const ask = (
  connections: Connections,
  request: UpstreamRequest,
  timeout_ms: number,
  signal: AbortSignal,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const asking = new Asking(resolve, reject)
    const exchange = connections.send(request, asking)
    const stop = (why: string): void => exchange.stop(new Error(why))
    const late = setTimeout(() => stop(`no answer within ${timeout_ms} ms`), timeout_ms)
    const abort = (): void => stop('the gateway stops')
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    asking.ended = () => {
      clearTimeout(late)
      signal.removeEventListener('abort', abort)
    }
    asking.enough = () => stop('the answer is too long')
  })

/** One request that waits for its answer. */
class Asking implements UpstreamListener, BodyReader {
  ended = (): void => {}
  enough = (): void => {}
  readonly #resolve: (answer: Answer) => void
  readonly #reject: (error: Error) => void
  readonly #taken: Uint8Array[] = []
  #bytes = 0
  #head: Pick<Answer, 'status' | 'headers'> = { status: 0, headers: [] }

  constructor(resolve: (answer: Answer) => void, reject: (error: Error) => void) {
    this.#resolve = resolve
    this.#reject = reject
  }

  answered({ status, headers, body }: UpstreamResponse): void {
    this.#head = { status, headers }
    if (body instanceof Uint8Array) {
      this.data(body)
      this.end()
    } else readInto(body, this)
  }

  failed(error: NodeJS.ErrnoException): void {
    this.ended()
    this.#reject(error)
  }

  over(): void {}

  data(chunk: Uint8Array): void {
    if (this.#bytes >= MAX_BYTES) return
    this.#taken.push(Buffer.from(chunk.subarray(0, MAX_BYTES - this.#bytes)))
    this.#bytes += chunk.length
    if (this.#bytes < MAX_BYTES) return
    this.end()
    this.enough()
  }

  end(): void {
    this.ended()
    this.#resolve({ ...this.#head, body: Buffer.concat(this.#taken) })
  }

  cut(): void {
    this.end()
  }
}
