import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type ApiStyle, type Code, type ErrorBody, errorBody, GuardError, isFault, statusOf } from 'guard-gateway/core'
import { schemaError } from '#lib/errors'
import { replyHeaders, requestErrors, tapsReply } from '#lib/http'
import { newId } from '#lib/ids'
import { decodedPath } from './admission/target.ts'
import { httpErrors } from './error-codes.ts'
import type { HttpServerState } from './http-server-state.ts'
import { bodyAborted } from './models/body-reader.ts'
import { setDocumentHeaders } from './response-headers.ts'

/** Sends an error as the answer of a request. */
export const sendError = (
  state: HttpServerState,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply => {
  const error = isBodyAborted(request, thrown) ? bodyAborted(thrown) : guardErrorOf(thrown)
  requestErrors.set(request.raw, error)
  if (statusOf(error) >= 500 && isFault(thrown)) state.gateway.fault(thrown, 'http')
  const id = request.id.startsWith('guardreq_') ? request.id : newId('guardreq_', state.gateway.clock.now())
  const path = decodedPath(request.raw.url ?? '')
  const kind = state.modelPaths.kindOf(path)
  const body =
    kind === 'model'
      ? modelError(state, path, request.headers, error, id, statusOf(error))
      : { error: errorBody(error) }
  reply.code(statusOf(error)).headers(error.place.headers ?? {})
  reply.header('x-guard-request-id', id)
  if (kind === 'model') amendReply(state, reply)
  const page = kind === 'page' && wantsPage(request) ? pageOf(state, error, id, request) : undefined
  if (page === undefined) return reply.type('application/json').send(JSON.stringify(body))
  reply.type('text/html; charset=utf-8')
  setDocumentHeaders(reply)
  return reply.send(page)
}

/** Lets plugins change the head of a refusal, as they do with every reply on a model path. */
const amendReply = ({ gateway }: HttpServerState, reply: FastifyReply): void => {
  if (!tapsReply(gateway)) return
  const before = Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)])
  const after = replyHeaders(gateway, reply.statusCode, before, undefined)
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name)
  for (let index = 0; index + 1 < after.length; index += 2) reply.header(after[index] ?? '', after[index + 1])
}

/** The client left, or was too slow, while its body was read: that is no fault of ours. */
const isBodyAborted = ({ raw }: FastifyRequest, thrown: unknown): boolean =>
  thrown instanceof Error && thrown === raw.errored && (thrown as NodeJS.ErrnoException).code === 'ECONNRESET'

/** A browser asks for a document, not a program for an answer. */
const wantsPage = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/html') === true

/** Undefined where pages are not served, or the error page itself fails. */
const pageOf = (
  state: HttpServerState,
  error: GuardError,
  request_id: string,
  request: FastifyRequest,
): string | undefined => {
  const { redact, fault } = state.gateway
  try {
    return state.gateway
      .service('documents')
      .get()
      ?.error(error, { url: redact.text(request.raw.url ?? ''), request_id })
  } catch (thrown) {
    fault(thrown, 'error-page')
  }
}

/** What went wrong, as one of our own errors; what is none says nothing of its inside. */
export const guardErrorOf = (error: unknown): GuardError => {
  if (error instanceof GuardError) return error
  const { code, validation, validationContext } = membersOf(error)
  if (validation !== undefined) return schemaError(validation, validationContext ?? 'body')
  const known = typeof code === 'string' ? fastifyErrors.get(code) : undefined
  return new GuardError(known ?? 'INTERNAL', undefined, { cause: error })
}

/** What the framework says of an error; nothing of one whose members cannot be read, as a plugin may throw it. */
const membersOf = (error: unknown): Partial<FastifyError> => {
  try {
    const { code, validation, validationContext } = (error ?? {}) as FastifyError
    return { code, validation, validationContext } as Partial<FastifyError>
  } catch {
    return {}
  }
}

const fastifyErrors = new Map<string, Code>([
  ['FST_ERR_CTP_BODY_TOO_LARGE', 'BODY_TOO_LARGE'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'UNSUPPORTED_MEDIA_TYPE'],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'INVALID_BODY'],
  ['FST_ERR_BAD_URL', httpErrors.INVALID_TARGET],
  ['FST_ERR_MAX_PARAM_LENGTH', httpErrors.INVALID_TARGET],
])

type Headers = Readonly<Record<string, unknown>>

/** The body of an error on a model path, in the dialect of the path or the headers. */
export const modelError = (
  state: HttpServerState,
  path: string,
  headers: Headers,
  error: unknown,
  id: string,
  status: number,
): object => {
  const { gateway, modelPaths } = state
  const body = errorBody(error)
  const spoken =
    gateway.apiStyles.get(styleOf(path, headers)) ?? [...gateway.apiStyles].find(({ id }) => id !== 'messages')
  for (const style of [modelPaths.styleAt(path) ?? modelPaths.styleOfKey(headers), spoken]) {
    const refused = refusedIn(state, style, body, id, status)
    if (refused !== undefined) return refused
  }
  return { error: body }
}

/** Undefined where there is no such style, or what it gives cannot be sent. */
const refusedIn = (
  { gateway }: HttpServerState,
  style: ApiStyle | undefined,
  body: ErrorBody,
  id: string,
  status: number,
): object | undefined => {
  try {
    const refusal = style?.refusal(body, id, status)
    return typeof JSON.stringify(refusal) === 'string' ? refusal : undefined
  } catch (thrown) {
    gateway.fault(thrown, `refusal:${style?.id}`)
  }
}

/** The dialect a model path is spoken in. */
export const styleOf = (path: string, headers: Headers): string => {
  if (/\/messages(?:\/|$)/.test(path)) return 'messages'
  if (/\/responses(?:\/|$)/.test(path)) return 'responses'
  if (/\/chat\/completions(?:\/|$)/.test(path)) return 'chat_completions'
  return headers['anthropic-version'] !== undefined || headers['provider-version'] !== undefined
    ? 'messages'
    : 'chat_completions'
}
