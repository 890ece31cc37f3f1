import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { FastifyError } from 'fastify'
import { errorBody, type Gateway, GuardError, type Plugin, statusOf } from 'guard-gateway/core'
import { type AskStream, commandKind } from '#lib/command'
import { errorFromResponse, schemaError } from '#lib/errors'
import { completion } from './completion/index.ts'
import { explain } from './explain.ts'
import { cliErrors } from './fault.ts'
import { findGateway, type GatewayLocation } from './gateway-probe.ts'

export type { AskStream as Ask } from '#lib/command'
export { nearest } from '#lib/errors'

export { findGateway, type GatewayLocation, requireGateway } from './gateway-probe.ts'
export { begins } from './parse.ts'

export { exits, paint, printError, printNotice, printWarning } from './print.ts'
export { type CommandSource, runCli } from './run.ts'
export { suggestion } from './suggestion.ts'

/** The commands that belong to the command line itself. */
export const cli = (): Plugin => ({
  name: 'cli',
  apply(gateway) {
    gateway.errorCodes.add(...Object.values(cliErrors))
    for (const command of [explain(gateway), completion(gateway)]) gateway.registry(commandKind).add(command)
  },
})

/** Where commands find what they ask for. */
interface AskOptions {
  /** The gateway that may be running; undefined where nobody has written down where it would be. */
  readonly place: GatewayLocation | undefined
  /** The storage outlives the process, so it can be asked where no gateway runs. */
  readonly durable: boolean
  /** The access key that a gateway beyond loopback wants of administration. */
  readonly key?: string | undefined
}

const headersOf = (body: Readable | string) => ({
  'content-type': typeof body === 'string' ? 'application/json' : 'application/octet-stream',
})

/** What is asked; `address` is that of the gateway that runs, and undefined for one opened for this. */
export type Work<T> = (ask: AskStream, address: string | undefined) => Promise<T>

/** Lets `work` ask the gateway that runs, else the storage through one opened for it. Throws STORAGE_UNAVAILABLE where neither can be asked, and UNAUTHORIZED as `findGateway` does. */
export const asking = async <T>(gateway: Gateway, { place, durable, key }: AskOptions, work: Work<T>): Promise<T> => {
  const address = place && (await findGateway(place))
  if (address !== undefined) return work(named(overHttp(address, key)), address)
  if (!durable)
    throw new GuardError(
      'STORAGE_UNAVAILABLE',
      `No gateway answers${place === undefined ? '' : ` at ${place.address}`}, and storage.backend is memory. Start it with "guard gateway run".`,
    )
  return inProcess(gateway, (ask) => work(named(ask), undefined))
}

/** Throws USAGE for a dot where a path names something: what is written so never arrives. */
const named =
  (ask: AskStream): AskStream =>
  async (method, path, body, headers) => {
    const [, dots] = /^[^?]*\/(\.{1,2})(?:[/?]|$)/.exec(path) ?? []
    if (dots !== undefined) throw new GuardError('USAGE', `"${dots}" is the name of nothing.`)
    return ask(method, path, body, headers)
  }

const overHttp =
  (address: string, key: string | undefined): AskStream =>
  async (method, path, body, further = {}) => {
    const headers = withKey(further, key)
    const sent = body === undefined ? { headers } : { body, headers: { ...headers, ...headersOf(body) } }
    try {
      const answer = await fetch(address + path, { method, duplex: 'half', ...sent })
      if (!answer.ok) throw errorFromResponse(await answer.text())
      const stream = Readable.from(arriving(answer.body ?? [], address), { objectMode: false })
      return Object.assign(stream, { headers: Object.fromEntries(answer.headers) })
    } catch (error) {
      throw (body instanceof Readable ? body.errored : null) ?? connectionError(error, address)
    }
  }

const withKey = (
  headers: Readonly<Record<string, string>>,
  key: string | undefined,
): Readonly<Record<string, string>> => (key === undefined || key === '' ? headers : { ...headers, 'x-guard-key': key })

async function* arriving(body: AsyncIterable<Uint8Array> | readonly Uint8Array[], address: string) {
  try {
    yield* body
  } catch (error) {
    throw connectionError(error, address)
  }
}

/** GATEWAY_NOT_RUNNING instead of a network error. */
const connectionError = (error: unknown, address: string): unknown =>
  error instanceof TypeError
    ? new GuardError(
        'GATEWAY_NOT_RUNNING',
        `The gateway at ${address} stopped answering. Start it with "guard gateway run" if it does not run, and try again.`,
        { cause: error },
      )
    : error

const inProcess = async <T>(gateway: Gateway, work: Work<T>): Promise<T> => {
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
      if (answer.statusCode >= 400) throw errorFromResponse(await text(answer.stream()))
      return Object.assign(answer.stream(), { headers: answer.headers })
    }, undefined)
  } finally {
    await app.close()
    await gateway.close()
  }
}

/** What the schema of a route refuses, as a running gateway answers it. */
const refusedBySchema = (thrown: unknown): GuardError | undefined => {
  const { validation, validationContext = 'body' } = thrown as Partial<FastifyError>
  return validation === undefined ? undefined : schemaError(validation, validationContext)
}
