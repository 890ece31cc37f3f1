import { type Client, GuardError } from 'guard-gateway/core'
import { connectionFault } from '#lib/network'
import type { BodyOwnership } from '#lib/request-reader'
import type { Exchange, UpstreamListener, UpstreamRequest, UpstreamResponse } from '#lib/upstream-client'
import type { Upstream } from './upstream.ts'

/** An attempt that brought no reply; `attempt` is what its record says. */
export class NoReply extends GuardError {
  readonly attempt: string
  constructor(code: 'UPSTREAM_UNREACHABLE' | 'UPSTREAM_TIMEOUT', detail: string, attempt: string, cause: unknown) {
    super(code, detail, { cause })
    this.attempt = attempt
  }
}

/** Sends a request and gives the reply once its head is there. Throws NoReply. Nothing is tried twice, no redirect is followed. */
export const send = (
  upstream: Upstream,
  request: UpstreamRequest,
  client: Client,
  owned: BodyOwnership | undefined,
): Promise<UpstreamResponse> =>
  new Promise((resolve, reject) => new UpstreamAttempt(upstream, owned, resolve, reject).begin(request, client))

/** One attempt with its timeouts: `answered` gets the reply once its head has arrived, `failed` the reason why none has. */
class UpstreamAttempt implements UpstreamListener {
  readonly #upstream: Upstream
  readonly #owned: BodyOwnership | undefined
  readonly #answered: (response: UpstreamResponse) => void
  readonly #failed: (error: unknown) => void
  #head: NodeJS.Timeout | undefined
  #total: NodeJS.Timeout | undefined
  #isAnswered = false
  #body: Buffer | undefined

  constructor(
    upstream: Upstream,
    owned: BodyOwnership | undefined,
    answered: (response: UpstreamResponse) => void,
    failed: (error: unknown) => void,
  ) {
    this.#upstream = upstream
    this.#owned = owned
    this.#answered = answered
    this.#failed = failed
  }

  begin(request: UpstreamRequest, client: Client): void {
    const { timeouts, on_disconnect } = this.#upstream
    const { headers_ms, total_ms } = timeouts
    const exchange = this.#send(request)
    if (exchange === undefined) return
    this.#head = setTimeout(() => setImmediate(() => this.#late(exchange, headers_ms)), headers_ms)
    if (total_ms > 0)
      this.#total = setTimeout(() => exchange.stop(new TimeoutError(`no end within ${total_ms} ms`)), total_ms)
    client.onGone(() => {
      if (!this.#isAnswered && (client.interrupted || on_disconnect === 'abort')) exchange.stop(new ClientGoneError())
    })
  }

  answered(response: UpstreamResponse): void {
    this.#isAnswered = true
    clearTimeout(this.#head)
    try {
      this.#answered(response)
    } catch (error) {
      this.#failed(error)
    }
  }

  failed(error: NodeJS.ErrnoException): void {
    this.#failed(noReply(this.#upstream, error))
  }

  sent(): void {
    if (this.#body !== undefined) this.#owned?.sendEnded(this.#body)
    this.#body = undefined
  }

  over(): void {
    clearTimeout(this.#head)
    clearTimeout(this.#total)
  }

  /** Called once what has arrived is read: after a stop or a sleep of this process, timers run first. */
  #late(exchange: Exchange, headers_ms: number): void {
    if (!this.#isAnswered) exchange.stop(new TimeoutError(`no answer within ${headers_ms} ms`))
  }

  #send(request: UpstreamRequest): Exchange | undefined {
    const { name, connections } = this.#upstream
    const { body } = request
    this.#body = body
    if (body !== undefined) this.#owned?.sendStarted(body)
    try {
      return connections.send(request, this)
    } catch (cause) {
      const detail = `The request cannot be sent to upstream "${name}": a header or the path holds a byte that HTTP forbids.`
      this.#failed(new NoReply('UPSTREAM_UNREACHABLE', detail, 'INVALID_REQUEST', cause))
      return undefined
    }
  }
}

class TimeoutError extends Error {}

/** The client left before an answer came, so the gateway closed the connection. */
class ClientGoneError extends Error {
  readonly code = 'CLIENT_GONE'
}

/** Why nothing was answered, in words. */
export const noReply = ({ name, via }: Upstream, error: NodeJS.ErrnoException): NoReply => {
  if (error instanceof TimeoutError)
    return new NoReply(
      'UPSTREAM_TIMEOUT',
      `Upstream "${name}" did not answer in time: ${error.message}. Try again, or raise its timeouts.`,
      'UPSTREAM_TIMEOUT',
      error,
    )
  const { what, fix = 'Check its base_url and the network.' } = connectionFault(error)
  // a fault of the proxy's names it itself
  const way = via === undefined || what.includes(via) ? '' : ` through the proxy ${via}`
  return new NoReply(
    'UPSTREAM_UNREACHABLE',
    `Upstream "${name}" could not be reached${way}: ${what}. ${fix}`,
    error.code ?? 'UNKNOWN',
    error,
  )
}
