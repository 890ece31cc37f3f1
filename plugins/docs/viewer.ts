import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import type { Gateway } from 'guard-gateway/core'
import { barScript, barStyle } from './bar.ts'

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
export const viewer = async (app: FastifyInstance, gateway: Gateway): Promise<void> => {
  const icon = await readFile(fileURLToPath(import.meta.resolve('guard-gateway/assets/icon.svg')))
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: policy,
    validatorUrl: false,
    theme: {
      title: 'API · Guard',
      favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: icon }],
      css: [{ filename: 'bar.css', content: barStyle }],
      js: [{ filename: 'bar.js', content: barScript(gateway) }],
    },
    logo: { type: 'image/svg+xml', content: icon },
    uiConfig: {
      docExpansion: 'list',
      displayRequestDuration: true,
      tryItOutEnabled: true,
      persistAuthorization: false,
      syntaxHighlight: false,
    },
  })
}
