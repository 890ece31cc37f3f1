import { type BodyReader, readInto } from 'guard-gateway/core'
import type {
  Connections,
  UpstreamListener,
  UpstreamRequest,
  UpstreamResponse,
} from 'guard-gateway/lib/upstream-client'

const MAX_RESPONSE_BYTES = 65_536

/** A response. Its status is valid even if the body is incomplete. */
export interface ReceiverResponse {
  readonly status: number
  /** Name, value, name, value … */
  readonly headers: readonly string[]
  /** Start of the body; shorter if it is incomplete. */
  readonly body: Buffer
}

/** Sends a request. Resolves when the response ends, reaches the limit, or times out. Rejects without a response; `signal` aborts. */
export const post = (
  connections: Connections,
  request: UpstreamRequest,
  timeout_ms: number,
  signal: AbortSignal,
): Promise<ReceiverResponse> =>
  new Promise((resolve, reject) => {
    const pending = new PendingRequest(resolve, reject)
    const exchange = connections.send(request, pending)
    const stop = (why: string): void => exchange.stop(new Error(why))
    const late = setTimeout(() => stop(`no answer within ${timeout_ms} ms`), timeout_ms)
    const abort = (): void => stop('the gateway stops')
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    pending.ended = () => {
      clearTimeout(late)
      signal.removeEventListener('abort', abort)
    }
    pending.enough = () => stop('the answer is too long')
  })

/** A request and its pending response. */
class PendingRequest implements UpstreamListener, BodyReader {
  ended = (): void => {}
  enough = (): void => {}
  readonly #resolve: (answer: ReceiverResponse) => void
  readonly #reject: (error: Error) => void
  readonly #chunks: Uint8Array[] = []
  #bytes = 0
  #head: Pick<ReceiverResponse, 'status' | 'headers'> = { status: 0, headers: [] }

  constructor(resolve: (answer: ReceiverResponse) => void, reject: (error: Error) => void) {
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
    if (this.#bytes >= MAX_RESPONSE_BYTES) return
    this.#chunks.push(Buffer.from(chunk.subarray(0, MAX_RESPONSE_BYTES - this.#bytes)))
    this.#bytes += chunk.length
    if (this.#bytes < MAX_RESPONSE_BYTES) return
    this.end()
    this.enough()
  }

  end(): void {
    this.ended()
    this.#resolve({ ...this.#head, body: Buffer.concat(this.#chunks) })
  }

  cut(): void {
    this.end()
  }
}
