import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Gateway } from 'guard-gateway/core'
import { rejectUnknownFilters } from '#lib/errors'
import { instant } from '#lib/time'
import type { FigureBucket, Figures } from '#lib/trace'
import { HOUR_MS } from './hours.ts'
import { figuresAnswer, figuresQuery } from './schemas.ts'

/** Figures over time, below `/api/v1`. */
export const figureRoutes =
  (gateway: Gateway, figures: Figures): FastifyPluginAsyncTypebox =>
  async (app) => {
    const schema = {
      summary: 'Figures over time',
      tags: ['sessions'],
      querystring: figuresQuery,
      response: { 200: figuresAnswer },
    }
    app.get('/figures', { schema }, async ({ query }) => {
      rejectUnknownFilters(query, figuresQuery)
      const now = gateway.clock.now()
      const { since, until, playground, step, group, ...rest } = query
      const answer = await figures.read({
        ...{ ...rest, step, group },
        since: since === undefined ? now - 24 * HOUR_MS : instant('since', since, now),
        until: until === undefined ? now + 1 : instant('until', until, now),
        playground: playground === undefined ? undefined : playground === 'true',
      })
      const series = answer.series.map(({ buckets, ...one }) => ({ ...one, buckets: buckets.map(dated) }))
      const times = { since: text(answer.since), until: text(answer.until), starts: answer.starts.map(text) }
      return { ...answer, ...times, step, group, buckets: answer.buckets.map(dated), series }
    })
  }

const dated = (bucket: FigureBucket) => ({ ...bucket, at: text(bucket.at) })

const text = (at: number): string => new Date(at).toISOString()
