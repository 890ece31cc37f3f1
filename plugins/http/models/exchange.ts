import { type ApiStyle, errorBody, GuardError, handle, isFault, isPlain, statusOf } from 'guard-gateway/core'
import type { RequestTarget } from '#lib/api-style'
import { checkEncoding, mediaType, replyHeaders, tapsReply, withInflated } from '#lib/http'
import type { ReadRequest } from '#lib/request-reader'
import { credentialsOf, isPlain as isPlainKey, programIdentity } from '../admission/credentials.ts'
import { decodedPath } from '../admission/target.ts'
import { HttpClient } from '../connections/client.ts'
import { askForBody } from '../connections/expect-continue.ts'
import { lingeringClose } from '../connections/linger.ts'
import { guardErrorOf, modelError } from '../errors.ts'
import type { Exchange, HttpServerState, Serve } from '../http-server-state.ts'
import { refusal } from '../log-events.ts'
import { hintOf } from './admission.ts'
import { contentLength, readBody, tooLarge } from './body-reader.ts'
import { callOf, modeOf } from './call.ts'

/** Bodies from this size on are read one by one: to read 500 KB that are new takes some milliseconds. */
export const LARGE = 65_536

/** Runs a model request from admission to the end: reserves capacity before it reads the body, releases it at the end, answers every error. */
export const run = async (exchange: Exchange, serve: Serve): Promise<void> => {
  const { state, request, response, style } = exchange
  const client = new HttpClient(response, state.server.write_idle_seconds * 1000, (status) =>
    state.blockStatus(request.headers['user-agent'] ?? '', status),
  )
  if (tapsReply(state.gateway))
    client.amend = (status, headers, about) => replyHeaders(state.gateway, status, headers, about)
  const bytes = contentLength(request)
  let counted = false
  try {
    const credentials = credentialsOf(request.headers, style?.credential, request.url)
    const known = state.gateway.keys.identify(credentials)
    const identity = isPlainKey(known) ? known : await programIdentity(state, request, credentials, 'models')
    state.checkCapacity(bytes)
    if (bytes > state.server.body_limit_bytes) throw tooLarge(state.server.body_limit_bytes)
    if (exchange.anyType !== true) checkJsonType(request.headers['content-type'])
    checkEncoding(request.headers['content-encoding'])
    state.inFlight.add(client)
    state.hold(client, bytes)
    counted = true
    askForBody(response)
    await serve(exchange, client, { identity, count: credentials.length })
  } catch (error) {
    refuse(exchange, client, error)
  } finally {
    client.call = undefined
    client.proxied = undefined
    if (counted) {
      state.release(client)
      state.inFlight.remove(client)
    }
    // a reply that did not complete must not look complete
    client.cut()
  }
}

/** Serves a request of a guarded style through the pipeline. `target`: canonical, unless its path has parameters. */
export const guarded =
  (style: ApiStyle, target: RequestTarget): Serve =>
  async ({ state, id, request }, client, { identity, count }) => {
    const { gateway, server } = state
    const at = gateway.clock.now()
    const tick = gateway.clock.tick()
    const mode_override = modeOf(request, server.allow_mode_header)
    const body = await readBody(request, server.body_limit_bytes, gateway.service('requests').need().bodies, (bytes) =>
      state.raiseHold(client, bytes),
    )
    const encoding = request.headers['content-encoding']
    const hint = hintOf(request)
    const reading = isPlain(encoding)
      ? parseInTurn(state, style, target, body, hint)
      : withInflated(body, encoding, server.body_limit_bytes, (plain) => parseInTurn(state, style, target, plain, hint))
    const read = reading instanceof Promise ? await reading : reading
    const metadata = { id, at, tick, style, path: target.path, identity, key_count: count, mode_override, body }
    const call = callOf(gateway, request, metadata, read)
    client.call = call
    await handle(gateway, call, client)
  }

/** Parses a body, a large one in its turn; `hint` groups bodies with a common prefix. */
const parseInTurn = (
  state: HttpServerState,
  style: ApiStyle,
  target: RequestTarget,
  plain: Buffer,
  hint: string,
): ReadRequest | Promise<ReadRequest> => {
  const { reader } = state.gateway.service('requests').need()
  const turn = plain.length >= LARGE ? state.bodyReads.turn() : undefined
  return turn === undefined
    ? reader.read(style, plain, hint, target)
    : turn.then(() => reader.read(style, plain, hint, target))
}

/** Answers an error, unless a response has started. An error that a dialect throws meanwhile becomes INTERNAL. */
const refuse = (exchange: Exchange, client: HttpClient, thrown: unknown): void => {
  const { state, request, id } = exchange
  const { fault } = state.gateway
  if (isFault(thrown)) fault(thrown, 'http')
  if (client.gone || client.status !== 0) return
  try {
    const error = guardErrorOf(thrown)
    const status = clientStatus(client, error)
    const path = decodedPath(request.url ?? '')
    answerError(exchange, client, error, modelError(state, path, request.headers, error, id, status))
  } catch (worse) {
    fault(worse, 'http')
    const error = new GuardError('INTERNAL')
    answerError(exchange, client, error, { error: errorBody(error) })
  }
}

/** A client may be told another status of a block. */
const clientStatus = (client: HttpClient, error: GuardError): number =>
  error.place.block === undefined ? statusOf(error) : client.blockStatus(statusOf(error))

const answerError = ({ state, id, request }: Exchange, client: HttpClient, error: GuardError, answer: object): void => {
  if (error.code === 'BODY_TOO_LARGE') lingeringClose(request)
  const status = clientStatus(client, error)
  const body = Buffer.from(JSON.stringify(answer))
  const further = Object.entries(error.place.headers ?? {}).flat()
  client.head(
    status,
    ['content-type', 'application/json', 'content-length', String(body.length), 'x-guard-request-id', id, ...further],
    false,
  )
  client.end(body)
  state.log?.line('info', {
    request_id: id,
    method: request.method ?? '',
    status,
    ...refusal(state, error),
  })
}

/** Whether a body claims to be JSON, or claims nothing. */
export const mayBeJson = (contentType: string | undefined): boolean => {
  if (contentType === undefined || contentType === 'application/json') return true
  const type = mediaType(contentType)
  return type === 'application/json' || type?.endsWith('+json') === true
}

/** Refuses a model request whose body does not claim to be JSON; no claim is fine. Throws UNSUPPORTED_MEDIA_TYPE. */
const checkJsonType = (contentType: string | undefined): void => {
  if (!mayBeJson(contentType)) throw new GuardError('UNSUPPORTED_MEDIA_TYPE')
}
