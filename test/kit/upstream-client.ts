import { type ReplyBody, readInto } from 'guard-gateway/core'
import type {
  Connections,
  Exchange,
  UpstreamAddress,
  UpstreamClient,
  UpstreamRequest,
  UpstreamResponse,
} from '#lib/upstream-client'

/** What became of a request. */
export interface Heard {
  /** Code of the error that came instead of an answer; its message where it has none. */
  readonly failed?: string
  readonly status?: number
  readonly headers?: readonly string[]
  readonly body?: string
  readonly ended?: 'whole' | 'cut'
}

/** Connections to a port of this machine. */
export const connectTo = (client: UpstreamClient, port: number, more: Partial<UpstreamAddress> = {}): Connections =>
  client.connect({ secure: false, hostname: '127.0.0.1', port, connect_ms: 60_000, idle_ms: 60_000, ...more })

/** A request with a body of two bytes, or what is different about it. */
const aRequest = (more: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
  method: 'POST',
  path: '/v1/x?a=b',
  headers: ['host', 'upstream.test', 'content-type', 'application/json', 'content-length', '2'],
  body: Buffer.from('{}'),
  ...more,
})

/** A request under way. */
export interface Asked {
  readonly exchange: Exchange
  /** The answer's head; rejects if there is none. */
  readonly response: Promise<UpstreamResponse>
  /** Resolves when the connection has no more to do with it. */
  readonly over: Promise<void>
  /** How often `over` was told. */
  readonly counts: { answered: number; failed: number; over: number }
}

/** Sends a request without reading what comes. */
export const send = (connections: Connections, more: Partial<UpstreamRequest> = {}): Asked => {
  const response = Promise.withResolvers<UpstreamResponse>()
  const over = Promise.withResolvers<void>()
  const counts = { answered: 0, failed: 0, over: 0 }
  const exchange = connections.send(aRequest(more), {
    answered: (told) => {
      counts.answered++
      response.resolve(told)
    },
    failed: (error) => {
      counts.failed++
      response.reject(error)
    },
    over: () => {
      counts.over++
      over.resolve()
    },
  })
  response.promise.catch(() => {})
  return { exchange, response: response.promise, over: over.promise, counts }
}

/** Sends a request and hears everything that comes of it. */
export const hear = async (connections: Connections, more: Partial<UpstreamRequest> = {}): Promise<Heard> => {
  const asked = send(connections, more)
  const heard = await asked.response.then(heardFrom, (error: NodeJS.ErrnoException) => ({
    failed: error.code ?? error.message,
  }))
  await asked.over
  return heard
}

const heardFrom = async ({ status, headers, body }: UpstreamResponse): Promise<Heard> => {
  const { bytes, ended } = await readBody(body)
  return { status, headers, body: bytes.toString('latin1'), ended }
}

/** A body of whatever kind, as far as it comes. */
export const readBody = (body: ReplyBody): Promise<{ readonly bytes: Buffer; readonly ended: 'whole' | 'cut' }> => {
  if (body instanceof Uint8Array) return Promise.resolve({ bytes: Buffer.from(body), ended: 'whole' })
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    const done = (ended: 'whole' | 'cut') => resolve({ bytes: Buffer.concat(chunks), ended })
    readInto(body, { data: (chunk) => void chunks.push(chunk), end: () => done('whole'), cut: () => done('cut') })
  })
}
