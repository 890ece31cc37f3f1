import { type Gateway, type Plugin, stages } from 'guard-gateway/core'
import type { DocsOptions } from './describe.ts'

/** Describes every route by its own schemas: `/openapi.json` for programs, `/docs` for people; and serves the documents of the package as a guide. */
export const docs = (options: DocsOptions): Plugin => ({
  name: 'docs',
  requires: ['http'],
  apply(gateway: Gateway) {
    // runs before other routes are added, so that it collects them
    gateway.hooks.http.tapPromise({ name: 'docs', stage: stages.http.docs }, async (app) => {
      const { describe } = await import('./describe.ts')
      await describe(app, gateway, options)
    })
  },
})
