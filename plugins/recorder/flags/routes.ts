import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Gateway } from 'guard-gateway/core'
import { rejectUnknownFilters } from '#lib/errors'
import { instant } from '#lib/time'
import { reportOf } from './report.ts'
import { reportAnswer, reportQuery } from './schemas.ts'

export const WEEK_MS = 7 * 86_400_000

/** What loops cost, below `/api/v1`. */
export const reportRoutes =
  (gateway: Gateway): FastifyPluginAsyncTypebox =>
  async (app) => {
    const schema = {
      summary: 'What flagged sessions cost after their flag, by rule',
      tags: ['sessions'],
      querystring: reportQuery,
      response: { 200: reportAnswer },
    }
    app.get('/report', { schema }, ({ query }) => {
      rejectUnknownFilters(query, reportQuery)
      const now = gateway.clock.now()
      const { since, until, ...rest } = query
      return reportOf(gateway, {
        ...rest,
        since: since === undefined ? now - WEEK_MS : instant('since', since, now),
        until: until === undefined ? now + 1 : instant('until', until, now),
      })
    })
  }
