import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

/** As for every page, but the viewer sets styles of its own. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/** Serves the interactive description at `/docs`, with nothing from any other host. */
export const viewer = async (app: FastifyInstance): Promise<void> => {
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: policy,
    validatorUrl: false,
    theme: { title: 'API · Guard' },
    uiConfig: {
      docExpansion: 'list',
      displayRequestDuration: true,
      tryItOutEnabled: true,
      persistAuthorization: false,
      syntaxHighlight: false,
    },
  })
}
