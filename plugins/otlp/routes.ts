import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { type Gateway, GuardError, isFault, statusOf } from 'guard-gateway/core'
import type { TSchema } from 'typebox'
import { replayDefaults } from '#lib/config-defaults'
import { inflated, projectHeader, requestErrors } from '#lib/http'
import { Type } from '#lib/json'
import { type Codec, codecFor, defaultCodec } from './codec.ts'
import { receive } from './receive.ts'
import { type Ignored, signals } from './signals.ts'

/** Limit of a request in bytes, before and after decompression. */

export interface OtlpReceiverOptions {
  /** Store redacted, truncated previews of prompts and replies; false if absent. */
  readonly full_content_logging?: boolean
  /** Limit of a request in bytes, before and after decompression; 32 MiB if absent. */
  readonly max_body_bytes?: number
}

/** The paths of OTLP exporters. Responses use the encoding of the request. */
export const routes =
  (
    gateway: Gateway,
    { full_content_logging = false, max_body_bytes = replayDefaults.max_otlp_bytes }: OtlpReceiverOptions,
    ignored: Ignored,
  ) =>
  async (app: FastifyInstance): Promise<void> => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser<Buffer>(
      ['application/json', 'application/x-protobuf'],
      { parseAs: 'buffer', bodyLimit: max_body_bytes },
      (_request, body, done) => done(null, body),
    )
    // bodies and responses are bytes, which a schema cannot validate
    app.setValidatorCompiler(() => () => true)
    app.setErrorHandler(async (error, request, reply) => {
      const codec = (await codecFor(request.headers['content-type'])) ?? defaultCodec
      return sendError(gateway, errorOf(error, max_body_bytes), error, codec, request, reply)
    })

    const take = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { headers } = request
      const codec = await codecFor(headers['content-type'])
      if (codec === undefined) throw unsupported()
      const sent = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const data = await codec.read(await inflated(sent, headers['content-encoding'], max_body_bytes))
      const project_id = projectHeader(headers, gateway.redact)
      const partial = await receive({ gateway, project_id, storesContent: full_content_logging }, data)
      return reply.type(codec.mediaType).send(codec.success(partial))
    }
    app.post('/v1/traces', { schema: tracesSchema }, take)
    for (const path of OTHER_PATHS) app.post(path, { schema: hidden }, take)
    await app.register(signals(ignored, max_body_bytes))
  }

/** Where exporters post that take an address without a path: with a slash at the end, and as LangSmith and Braintrust call it. */
const OTHER_PATHS = ['/v1/traces/', '/otel/v1/traces'] as const

/** A schema for both encodings of OTLP. */
const inBothEncodings = (json: TSchema) => ({
  content: {
    'application/json': { schema: json },
    'application/x-protobuf': { schema: Type.Unsafe<string>({ type: 'string', format: 'binary' }) },
  },
})

const tracesData = Type.Object(
  { resourceSpans: Type.Optional(Type.Array(Type.Unsafe<object>({ type: 'object' }))) },
  { description: 'ExportTraceServiceRequest of OTLP.' },
)
const answer = Type.Object({
  partialSuccess: Type.Optional(
    Type.Object({
      rejectedSpans: Type.String({ description: 'How many, in digits.' }),
      errorMessage: Type.String(),
    }),
  ),
})
const rpcStatus = Type.Object({ code: Type.Integer(), message: Type.String() })

const tracesSchema: FastifySchema & { readonly summary: string; readonly tags: readonly string[] } = {
  summary: 'Receive traces by OTLP/HTTP, as JSON or protobuf',
  tags: ['replay'],
  body: inBothEncodings(tracesData),
  response: {
    200: { description: 'What was refused, if anything was.', ...inBothEncodings(answer) },
    '4xx': { description: 'google.rpc.Status', ...inBothEncodings(rpcStatus) },
  },
}
/** The API description omits the alternative paths. */
const hidden: FastifySchema & { readonly hide: boolean } = { hide: true }

const unsupported = (): GuardError =>
  new GuardError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The content type is not one of OTLP. Send application/json or application/x-protobuf.',
  )

const tooLarge = (limit: number): GuardError =>
  new GuardError('BODY_TOO_LARGE', `The body is larger than ${limit} bytes, as sent or inflated. Send smaller batches.`)

/** Maps an error to a code that exporters handle correctly. */
const errorOf = (error: unknown, limit: number): GuardError => {
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge(limit)
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupported()
  if (error instanceof GuardError) {
    const inflatedTooFar = error.code === 'BODY_TOO_LARGE' && error.cause !== undefined
    return inflatedTooFar ? tooLarge(limit) : error
  }
  return new GuardError(typeof statusCode === 'number' && statusCode < 500 ? 'INVALID_BODY' : 'INTERNAL', undefined, {
    cause: error,
  })
}

/** google.rpc.Status codes by HTTP status. */
const rpcCodes: Readonly<Record<number, number>> = { 401: 16, 403: 7, 413: 8, 500: 13, 503: 14 }
const INVALID_ARGUMENT = 3
/** Value of Retry-After, in seconds. */
const RETRY_AFTER = '1'

const sendError = (
  gateway: Gateway,
  error: GuardError,
  thrown: unknown,
  codec: Codec,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply => {
  const status = statusOf(error)
  requestErrors.set(request.raw, error)
  if (isFault(error)) gateway.fault(thrown, 'otlp')
  reply.code(status).headers(error.place.headers ?? {})
  if (status === 503 && !reply.hasHeader('retry-after')) reply.header('retry-after', RETRY_AFTER)
  reply.header('x-guard-request-id', request.id).type(codec.mediaType)
  return reply.send(codec.failure({ code: rpcCodes[status] ?? INVALID_ARGUMENT, message: error.message }))
}
