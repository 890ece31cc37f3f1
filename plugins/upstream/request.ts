import type { ClientRequest, IncomingMessage } from 'node:http'
import { type Client, GuardError } from 'guard-gateway/core'
import { ConnectTimeout, carries } from './connections.ts'
import type { Upstream } from './destination.ts'

/** One request to one upstream, ready to be sent. */
export interface Outgoing {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
}

/** An attempt that brought no reply; `attempt` is what its record says. */
export class NoReply extends GuardError {
  readonly attempt: string
  constructor(code: 'UPSTREAM_UNREACHABLE' | 'UPSTREAM_TIMEOUT', detail: string, attempt: string, cause: unknown) {
    super(code, detail, { cause })
    this.attempt = attempt
  }
}

/** Sends a request and gives the reply once its head is there. Throws NoReply. Nothing is tried twice, no redirect is followed. */
export const send = (upstream: Upstream, outgoing: Outgoing, client: Client): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { headers_ms, total_ms } = upstream.timeouts
    const request = begin(upstream, outgoing)
    let reply: IncomingMessage | undefined
    const stop = (reason: Error) => (reply ?? request).destroy(reason)
    const head = setTimeout(() => stop(new Late(`no answer within ${headers_ms} ms`)), headers_ms)
    const total = total_ms > 0 ? setTimeout(() => stop(new Late(`no end within ${total_ms} ms`)), total_ms) : undefined
    request.on('response', (response: IncomingMessage) => {
      clearTimeout(head)
      if ((response.statusCode ?? 0) < 200) return void request.destroy(new Error('an answer without a usable status'))
      reply = response
      carries(response)
      // an error before anybody listens must not end the process; who listens later finds the reply destroyed
      response.on('error', ignore)
      if (total !== undefined) response.on('close', () => clearTimeout(total))
      resolve(response)
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(head)
      clearTimeout(total)
      reject(noReply(upstream, error))
    })
    // an answer that is none, for example a change of protocol, ends without an error
    request.on('close', () => {
      if (reply !== undefined) return
      clearTimeout(head)
      clearTimeout(total)
      reject(noReply(upstream, new Error('the connection ended without an answer')))
    })
    client.onGone(() => {
      if (reply === undefined && (client.interrupted || upstream.on_disconnect === 'abort')) request.destroy()
    })
    request.end(outgoing.body)
  })

const ignore = (): void => {}

class Late extends Error {}

const begin = (upstream: Upstream, { method, path, headers }: Outgoing): ClientRequest => {
  const { hostname, port, agent } = upstream
  try {
    return upstream.request({ method, path, headers, hostname, port, agent })
  } catch (cause) {
    throw new NoReply(
      'UPSTREAM_UNREACHABLE',
      `The request cannot be sent to upstream "${upstream.name}": a header or the path holds a byte that HTTP forbids.`,
      'INVALID_REQUEST',
      cause,
    )
  }
}

const noReply = ({ name }: Upstream, error: NodeJS.ErrnoException): NoReply => {
  if (error instanceof Late)
    return new NoReply(
      'UPSTREAM_TIMEOUT',
      `Upstream "${name}" did not answer in time: ${error.message}. Try again, or raise its timeouts.`,
      'UPSTREAM_TIMEOUT',
      error,
    )
  const code = error.code ?? 'UNKNOWN'
  const detail = error instanceof ConnectTimeout ? error.message : (meanings.get(code) ?? code)
  return new NoReply(
    'UPSTREAM_UNREACHABLE',
    `Upstream "${name}" could not be reached: ${detail}. Check its base_url and the network.`,
    code,
    error,
  )
}

const meanings: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens there (ECONNREFUSED)'],
  ['ENOTFOUND', 'its host name is unknown (ENOTFOUND)'],
  ['EAI_AGAIN', 'its host name could not be looked up (EAI_AGAIN)'],
  ['ECONNRESET', 'it closed the connection without an answer (ECONNRESET)'],
  ['EPIPE', 'it closed the connection without an answer (EPIPE)'],
])
