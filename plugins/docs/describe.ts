import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import type { Gateway } from 'guard-gateway/core'
import { pageKind } from 'guard-gateway/lib/page'
import { described, frame, withOptionalParts } from './document.ts'
import type { Description } from './page/description.ts'
import { listPage } from './page/list.ts'
import { operationPage } from './page/operation.ts'

/** Listens to the routes that are added to `app` from now on, and serves what they say of themselves: for programs, and as pages. */
export const describe = async (app: FastifyInstance, gateway: Gateway, version: string): Promise<void> => {
  await app.register(swagger, {
    openapi: frame(version),
    transform: described,
    transformObject: withOptionalParts,
    convertConstToEnum: false,
  })
  app.get('/openapi.json', { schema: { hide: true } as object }, (_request, reply) => reply.send(app.swagger()))
  // all of it comes from the schemas of this process
  const description = () => app.swagger() as unknown as Description
  gateway.registry(pageKind).add(listPage(description))
  gateway.registry(pageKind).add(operationPage(gateway, description))
}
