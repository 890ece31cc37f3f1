import { type Gateway, type Plugin, stages } from 'guard-gateway/core'

export interface DocsOptions {
  /** The version of the service that the description names. */
  readonly version: string
}

/** Describes every route from its own schemas: `/openapi.json` for programs, `/docs` for people. */
export const docs = ({ version }: DocsOptions): Plugin => ({
  name: 'docs',
  requires: ['http'],
  apply(gateway: Gateway) {
    // before all others: what describes routes has to be there when they are added
    gateway.hooks.http.tapPromise({ name: 'docs', stage: stages.http.docs }, async (app) => {
      const { describe } = await import('./describe.ts')
      await describe(app, gateway, version)
    })
  },
})
