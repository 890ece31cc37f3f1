import type { FastifyInstance, FastifyRequest } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { acceptNoBody, inflated, mediaType } from '#lib/http'
import { readJsonChunked, writeJson } from '#lib/json'

const MAX_DEPTH = 256

/** JSON bodies with exact integers, plain or compressed, up to `max_bytes`; responses likewise. Applies only to this scope. */
export const exactJson = (app: FastifyInstance, max_bytes: number): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer', bodyLimit: max_bytes },
    async (request: FastifyRequest, body: Buffer) => {
      const bytes = await inflated(body, request.headers['content-encoding'], max_bytes)
      // an empty body counts as absent
      if (bytes.length === 0) return undefined
      if (mediaType(request.headers['content-type'] ?? '') === undefined) throw new GuardError('UNSUPPORTED_MEDIA_TYPE')
      return readJsonChunked(bytes, { max_depth: MAX_DEPTH, unique: true })
    },
  )
  acceptNoBody(app)
  app.setReplySerializer(writeJson)
  // schemas only describe: readers validate with their own codes and pointers, and responses keep exact integers
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => writeJson)
}

/** Rejects requests without JSON. Throws UNSUPPORTED_MEDIA_TYPE. */
export const needJson = ({ headers }: FastifyRequest): void => {
  if (headers['content-type'] === undefined) throw new GuardError('UNSUPPORTED_MEDIA_TYPE')
}
