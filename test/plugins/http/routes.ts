import type { Plugin } from 'guard-gateway/core'

/** Patterns of the routes that were reached, in order. */
export const reached: string[] = []

/** Routes of every class, which tell that they were reached. */
export const everyClass: Plugin = {
  name: 'routes',
  apply: (gateway) => {
    gateway.hooks.http.tap('routes', (app) => {
      for (const url of [
        '/api/things',
        '/api/things/:id',
        '/api/export/all.csv',
        '/api/v1/mcp/servers',
        '/mcp/:server',
        '/replay',
        '/v1/traces',
      ]) {
        app.route({
          method: ['GET', 'POST'],
          url,
          handler: async () => {
            reached.push(url)
            return { ok: true }
          },
        })
      }
    })
  },
}
