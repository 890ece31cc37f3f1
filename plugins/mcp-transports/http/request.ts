import type {
  Connections,
  Exchange,
  UpstreamListener,
  UpstreamRequest,
  UpstreamResponse,
} from 'guard-gateway/lib/upstream-client'
import { connectionFault } from '#lib/network'

type NoResponseCode = 'UPSTREAM_UNREACHABLE' | 'UPSTREAM_TIMEOUT' | 'MCP_LOGIN_NEEDED'

/** A server that gave no answer: it was not reached, did not answer in time, or somebody must log in there first. */
export class NoResponse extends Error {
  readonly code: NoResponseCode
  constructor(code: NoResponseCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Sends a request; resolves when the head of the answer is there, within `timeout_ms`. Rejects with NoResponse. Redirects are answers like any other. While it waits, it is one of `waiting`. */
export const sendRequest = (
  connections: Connections,
  request: UpstreamRequest,
  timeout_ms: number,
  waiting: Set<Exchange>,
): Promise<UpstreamResponse> =>
  new Promise((resolve, reject) => {
    const over = () => {
      clearTimeout(late)
      waiting.delete(exchange)
    }
    const exchange = sent(connections, request, new PendingResponse(resolve, reject, over))
    const late = setTimeout(() => exchange.stop(new ResponseTimeout(timeout_ms)), timeout_ms)
    waiting.add(exchange)
  })

/** The session of a request that waits is over. */
export class SessionEnded extends Error {
  constructor() {
    super('The session has ended.')
  }
}

const sent = (connections: Connections, request: UpstreamRequest, listener: UpstreamListener): Exchange => {
  try {
    return connections.send(request, listener)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new NoResponse(
      'UPSTREAM_UNREACHABLE',
      `The MCP server was not asked, since the request cannot be written: ${error.message}. Look at the headers of the server.`,
    )
  }
}

/** One request that waits for its answer. */
class PendingResponse implements UpstreamListener {
  readonly #over: () => void
  readonly #resolve: (response: UpstreamResponse) => void
  readonly #reject: (error: NoResponse) => void

  constructor(resolve: (response: UpstreamResponse) => void, reject: (error: NoResponse) => void, over: () => void) {
    this.#resolve = resolve
    this.#reject = reject
    this.#over = over
  }

  answered(response: UpstreamResponse): void {
    this.#over()
    this.#resolve(response)
  }

  failed(error: NodeJS.ErrnoException): void {
    this.#over()
    this.#reject(noResponse(error))
  }

  over(): void {}
}

class ResponseTimeout extends Error {
  constructor(timeout_ms: number) {
    super(`The MCP server did not answer within ${timeout_ms / 1000} s.`)
  }
}

const noResponse = (error: NodeJS.ErrnoException): NoResponse => {
  if (error instanceof ResponseTimeout) return new NoResponse('UPSTREAM_TIMEOUT', error.message)
  if (error instanceof SessionEnded) return new NoResponse('UPSTREAM_UNREACHABLE', error.message)
  const { what, fix } = connectionFault(error)
  return new NoResponse(
    'UPSTREAM_UNREACHABLE',
    `The MCP server could not be reached: ${what}.${fix === undefined ? '' : ` ${fix}`}`,
  )
}
