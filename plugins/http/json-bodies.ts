import type { FastifyInstance } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import { acceptNoBody, mediaType } from '#lib/http'
import { readJsonStrict } from '#lib/json'

const MAX_BYTES = 1_048_576
const MAX_DEPTH = 128

/** Bodies of administration routes: strict JSON or none. Routes that take other types register their own parsers. */
export const jsonBodies = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer', bodyLimit: MAX_BYTES },
    (request, body, done) => {
      // a type without a body is no body
      if (body.length === 0) return done(null, undefined)
      try {
        if (mediaType(request.headers['content-type'] ?? '') === undefined)
          throw new GuardError('UNSUPPORTED_MEDIA_TYPE')
        done(null, readJsonStrict(body, { max_depth: MAX_DEPTH, unique: true }))
      } catch (error) {
        done(error as Error)
      }
    },
  )
  acceptNoBody(app)
}
