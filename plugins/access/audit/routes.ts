import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Gateway } from 'guard-gateway/core'
import { rejectUnknownFilters } from '#lib/errors'
import { foundAudit } from './find.ts'
import { auditPage, auditQuery } from './schemas.ts'

/** Who did what, below `/api/v1`. */
export const auditRoutes =
  (gateway: Gateway): FastifyPluginAsyncTypebox =>
  async (app) => {
    const list = {
      summary: 'List who did what, newest first',
      tags: ['access'],
      querystring: auditQuery,
      response: { 200: auditPage },
    }
    app.get('/audit', { schema: list }, async ({ query }) => {
      rejectUnknownFilters(query, auditQuery)
      const { limit, cursor, ...filter } = query
      const { rows, next_cursor, truncated } = await foundAudit(gateway, filter, limit, cursor)
      const entries = rows.map((row) => ({ ...row, at: new Date(row.at).toISOString() }))
      return { entries, next_cursor, truncated }
    })
  }
