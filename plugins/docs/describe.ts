import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import type { Gateway } from 'guard-gateway/core'
import { described, frame, withOptionalBodies } from './document.ts'
import { viewer } from './viewer.ts'

/** Listens to the routes that are added to `app` from now on, and serves what they say of themselves. */
export const describe = async (app: FastifyInstance, gateway: Gateway, version: string): Promise<void> => {
  await app.register(swagger, {
    openapi: frame(version),
    transform: described,
    transformObject: withOptionalBodies,
    convertConstToEnum: false,
  })
  app.get('/openapi.json', { schema: { hide: true } as object }, (_request, reply) => reply.send(app.swagger()))
  await viewer(app, gateway)
}
