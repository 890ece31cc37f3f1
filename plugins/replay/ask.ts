import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import {
  type Code,
  catalogue,
  errorBody,
  type Gateway,
  GuardError,
  isShape,
  readJson,
  statusOf,
} from 'guard-gateway/core'

/** Where commands find what they ask for. */
export interface AskOptions {
  /** Base address of the gateway that may be running. */
  readonly address: string
  /** The storage outlives the process, so it can be asked where no gateway runs. */
  readonly durable: boolean
}

/** Sends a request to the interface and gives the body of its answer; throws the error that it answers with. Text is sent as JSON, a stream as a file. */
export type Ask = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: Readable | string,
  headers?: Readonly<Record<string, string>>,
) => Promise<Readable>

/** How long a running gateway has to say that it is there, in milliseconds. */
const PROBE_MS = 300

const headersOf = (body: Readable | string) => ({
  'content-type': typeof body === 'string' ? 'application/json' : 'application/octet-stream',
})

/** Lets `work` ask the gateway that runs, else the storage through one opened for it. Throws STORAGE_UNAVAILABLE where neither can be asked. */
export const asking = async <T>(gateway: Gateway, options: AskOptions, work: (ask: Ask) => Promise<T>): Promise<T> => {
  if (await answers(options.address)) return work(overHttp(options.address))
  if (!options.durable)
    throw new GuardError(
      'STORAGE_UNAVAILABLE',
      `No gateway answers at ${options.address}, and storage.backend is memory. Start it with "guard gateway run".`,
    )
  return inProcess(gateway, work)
}

/** The address of the gateway that runs, for what only one that runs can tell. Throws STORAGE_UNAVAILABLE. */
export const runningGateway = async ({ address }: AskOptions): Promise<string> => {
  if (await answers(address)) return address
  throw new GuardError('STORAGE_UNAVAILABLE', `No gateway answers at ${address}. Start it with "guard gateway run".`)
}

const answers = async (address: string): Promise<boolean> => {
  try {
    const answer = await fetch(`${address}/api/health`, { signal: AbortSignal.timeout(PROBE_MS) })
    const health: unknown = await answer.json()
    return isShape(health) && Array.isArray(health.plugins) && health.plugins.includes('replay')
  } catch {
    return false
  }
}

const overHttp =
  (address: string): Ask =>
  async (method, path, body, headers = {}) => {
    const sent = body === undefined ? { headers } : { body, headers: { ...headers, ...headersOf(body) } }
    const answer = await fetch(address + path, { method, duplex: 'half', ...sent })
    if (!answer.ok) throw answered(await answer.text())
    return answer.body === null ? Readable.from([]) : Readable.fromWeb(answer.body)
  }

const inProcess = async <T>(gateway: Gateway, work: (ask: Ask) => Promise<T>): Promise<T> => {
  const { default: fastify } = await import('fastify')
  const app = fastify()
  app.setErrorHandler((thrown, _request, reply) => {
    const error = refusedBySchema(thrown) ?? thrown
    return reply.code(statusOf(error)).send({ error: errorBody(error) })
  })
  await gateway.open({ beside: true })
  try {
    await gateway.hooks.http.promise(app)
    return await work(async (method, path, body, headers = {}) => {
      const sent = body === undefined ? { headers } : { payload: body, headers: { ...headers, ...headersOf(body) } }
      const answer = await app.inject({ method, url: path, payloadAsStream: true, ...sent })
      if (answer.statusCode >= 400) throw answered(await text(answer.stream()))
      return answer.stream()
    })
  } finally {
    await app.close()
    await gateway.close()
  }
}

/** What the schema of a route refuses, as a running gateway answers it. */
const refusedBySchema = (thrown: unknown): GuardError | undefined =>
  thrown instanceof Error && 'validation' in thrown
    ? new GuardError('INVALID_REQUEST', `${thrown.message}.`)
    : undefined

/** The error that the interface answered with, as if it had been thrown here. */
export const answered = (body: string): GuardError => {
  const { error } = shapeIn(body)
  const { code, message } = isShape(error) ? error : {}
  const known = typeof code === 'string' && Object.hasOwn(catalogue, code) ? (code as Code) : 'INTERNAL'
  return new GuardError(known, typeof message === 'string' ? message : undefined)
}

const shapeIn = (body: string): Readonly<Record<string, unknown>> => {
  try {
    const value = readJson(body)
    return isShape(value) ? value : {}
  } catch {
    return {}
  }
}
