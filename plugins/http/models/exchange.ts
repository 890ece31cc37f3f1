import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ReadRequest } from 'guard-gateway/core'
import {
  type ApiStyle,
  errorBody,
  GuardError,
  handle,
  type Identity,
  isFault,
  isPlain,
  statusOf,
} from 'guard-gateway/core'
import { checkEncoding, withInflated } from 'guard-gateway/lib/http'
import { credentialsOf, identityOf } from '../admission/credentials.ts'
import { decodedPath } from '../admission/target.ts'
import { HttpClient } from '../connections/client.ts'
import { askForBody } from '../connections/continue.ts'
import { lingerAfter } from '../connections/linger.ts'
import { guardErrorOf, modelError } from '../errors.ts'
import type { HttpFace } from '../face.ts'
import { refusal } from '../log-events.ts'
import { checkJsonType } from '../media-type.ts'
import { announcedLength, readBody, tooLarge } from './body-reader.ts'
import { callOf, hintOf, modeOf } from './call.ts'

/** Bodies from this size on are read one by one: to read 500 KB that are new takes some milliseconds. */
const LARGE = 65_536

/** One request on a model path and the way to answer it. */
export interface Exchange {
  readonly face: HttpFace
  /** `guardreq_…` */
  readonly id: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Nobody here reads the body, so it may be of any type. */
  readonly anyType?: boolean
}

/** Whose keys a request showed, and how many. */
export interface Shown {
  readonly identity: Identity
  readonly count: number
}

/** Serves one admitted request; what it throws is answered. */
export type Serve = (exchange: Exchange, client: HttpClient, shown: Shown) => Promise<void>

/** Runs the exchange of a model request: judged and counted in before its body is read, counted out at the end, every error answered. */
export const run = async (exchange: Exchange, serve: Serve): Promise<void> => {
  const { face, request, response } = exchange
  const client = new HttpClient(response, face.server.write_idle_seconds * 1000, (status) =>
    face.blockStatus(request.headers['user-agent'] ?? '', status),
  )
  const bytes = announcedLength(request)
  let counted = false
  try {
    const credentials = credentialsOf(request.headers)
    const identity = identityOf(face.gateway.keys, credentials)
    face.checkCapacity(bytes)
    if (bytes > face.server.body_limit_bytes) throw tooLarge(face.server.body_limit_bytes)
    if (exchange.anyType !== true) checkJsonType(request.headers['content-type'])
    checkEncoding(request.headers['content-encoding'])
    face.exchanges.add(client)
    face.hold(client, bytes)
    counted = true
    askForBody(response)
    await serve(exchange, client, { identity, count: credentials.length })
  } catch (error) {
    refuse(exchange, client, error)
  } finally {
    client.call = undefined
    if (counted) {
      face.release(client)
      face.exchanges.remove(client)
    }
    // whatever was not ended properly must not look as if it were
    client.cut()
  }
}

/** Serves a request of a guarded style through the pipeline. `path`: canonical. */
export const guarded =
  (style: ApiStyle, path: string): Serve =>
  async ({ face, id, request }, client, { identity, count }) => {
    const { gateway, server } = face
    const at = gateway.clock.now()
    const tick = gateway.clock.tick()
    const mode_override = modeOf(request, server.allow_mode_header)
    const body = await readBody(request, server.body_limit_bytes, gateway.service('requests').need().bodies, (bytes) =>
      face.holdMore(client, bytes),
    )
    const encoding = request.headers['content-encoding']
    const hint = hintOf(request)
    const reading = isPlain(encoding)
      ? readInTurn(face, style, body, hint)
      : withInflated(body, encoding, server.body_limit_bytes, (plain) => readInTurn(face, style, plain, hint))
    const read = reading instanceof Promise ? await reading : reading
    const arrived = { id, at, tick, style: style.id, path, identity, shown: count, mode_override, body }
    const call = callOf(gateway, request, arrived, read)
    client.call = call
    await handle(gateway, call, client)
  }

/** Reads a body as soon as it may be read; `hint` groups those that begin alike. */
const readInTurn = (
  face: HttpFace,
  style: ApiStyle,
  plain: Buffer,
  hint: string,
): ReadRequest | Promise<ReadRequest> => {
  const { reader } = face.gateway.service('requests').need()
  const turn = plain.length >= LARGE ? face.readings.turn() : undefined
  return turn === undefined ? reader.read(style, plain, hint) : turn.then(() => reader.read(style, plain, hint))
}

/** Answers an error; where an answer has begun already, breaks it off. What answering throws, as a dialect may, is answered in its place. */
const refuse = (exchange: Exchange, client: HttpClient, thrown: unknown): void => {
  const { fault } = exchange.face.gateway
  if (isFault(thrown)) fault(thrown, 'http')
  if (client.gone || client.status !== 0) return
  try {
    const error = guardErrorOf(thrown)
    answerError(
      exchange,
      client,
      error,
      modelError(exchange.face.gateway, pathOf(exchange), exchange.request.headers, error, exchange.id),
    )
  } catch (worse) {
    fault(worse, 'http')
    const error = new GuardError('INTERNAL')
    answerError(exchange, client, error, { error: errorBody(error) })
  }
}

const pathOf = ({ request }: Exchange): string => decodedPath(request.url ?? '')

const answerError = ({ face, id, request }: Exchange, client: HttpClient, error: GuardError, answer: object): void => {
  if (error.code === 'BODY_TOO_LARGE') lingerAfter(request)
  const status = error.place.block === undefined ? statusOf(error) : client.blockStatus(statusOf(error))
  const body = Buffer.from(JSON.stringify(answer))
  const further = Object.entries(error.place.headers ?? {}).flat()
  client.head(
    status,
    ['content-type', 'application/json', 'content-length', String(body.length), 'x-guard-request-id', id, ...further],
    false,
  )
  client.end(body)
  face.log?.line('info', {
    request_id: id,
    method: request.method ?? '',
    status,
    ...refusal(face, error),
  })
}
