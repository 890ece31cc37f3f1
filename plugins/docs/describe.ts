import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import type { Gateway } from 'guard-gateway/core'
import { pageKind } from 'guard-gateway/lib/page'
import { completed, describeRoute, documentFrame } from './document.ts'
import { addGuide } from './guide/index.ts'
import type { DocsOptions } from './index.ts'
import type { Description } from './page/description.ts'
import { listPage } from './page/list.ts'
import { operationPage } from './page/operation.ts'
import { stylePaths } from './style-paths.ts'

/** Collects the routes that are added to `app` after this call, and serves their description as JSON and as pages. */
export const describe = async (app: FastifyInstance, gateway: Gateway, options: DocsOptions): Promise<void> => {
  await app.register(swagger, {
    openapi: documentFrame(options.version),
    transform: describeRoute,
    transformObject: completed(() => stylePaths(gateway.apiStyles)),
    convertConstToEnum: false,
  })
  app.get('/openapi.json', { schema: { hide: true } as object }, (_request, reply) => reply.send(app.swagger()))
  // the description contains only schemas of this process
  const description = () => app.swagger() as unknown as Description
  gateway.registry(pageKind).add(listPage(description, addGuide(gateway, options)))
  gateway.registry(pageKind).add(operationPage(gateway, description))
}
