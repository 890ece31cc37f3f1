import type { FastifyInstance, FastifyRequest } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { acceptNoBody, inflated, mediaType } from 'guard-gateway/lib/http'
import { readJsonChunked, writeJson } from 'guard-gateway/lib/json'

const MAX_DEPTH = 256

/** Bodies of Replay: JSON with every digit, plain or compressed, at most so many bytes; answers the same. Stays inside the scope. */
export const exactJson = (app: FastifyInstance, max_bytes: number): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer', bodyLimit: max_bytes },
    async (request: FastifyRequest, body: Buffer) => {
      const bytes = await inflated(body, request.headers['content-encoding'], max_bytes)
      // a type without a body is no body
      if (bytes.length === 0) return undefined
      if (mediaType(request.headers['content-type'] ?? '') === undefined) throw new GuardError('UNSUPPORTED_MEDIA_TYPE')
      return readJsonChunked(bytes, { max_depth: MAX_DEPTH, unique: true })
    },
  )
  acceptNoBody(app)
  app.setReplySerializer(writeJson)
  // schemas describe: what readers find wrong they say with a code and a pointer of their own, and answers keep every digit
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => writeJson)
}

/** Refuses a request that carries no JSON at all. Throws UNSUPPORTED_MEDIA_TYPE. */
export const needJson = ({ headers }: FastifyRequest): void => {
  if (headers['content-type'] === undefined) throw new GuardError('UNSUPPORTED_MEDIA_TYPE')
}
