import type { FastifyInstance } from 'fastify'
import { GuardError } from 'guard-gateway/core'

/** Takes a body of no bytes for none whatever type it claims, as `curl -d ''` does; throws UNSUPPORTED_MEDIA_TYPE for any other that no parser takes. */
export const acceptNoBody = (app: FastifyInstance): void => {
  app.addContentTypeParser('*', (request, _payload, done) => {
    if (request.headers['content-length'] === '0') done(null, undefined)
    else done(new GuardError('UNSUPPORTED_MEDIA_TYPE'))
  })
}
