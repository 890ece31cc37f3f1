import type { FastifyInstance } from 'fastify'
import type { Gateway } from 'guard-gateway/core'
import { ConcurrencyLimit } from 'guard-gateway/lib/http'
import type { RawQuery } from '../api/filters.ts'
import { routeSchema } from '../api/route-schema.ts'
import { type Group, statsQuery } from './query.ts'
import { readStats } from './read-stats.ts'
import { statsAnswer, statsParameters } from './schemas.ts'

/** Answers that are computed at the same time; others wait. */
const AT_ONCE = 2

/** Sums and percentiles over time, below `/api/v1`. */
export const statsRoute = (app: FastifyInstance, gateway: Gateway): void => {
  const limit = new ConcurrencyLimit(AT_ONCE)
  const schema = routeSchema('Sums and percentiles of runs and calls over time', {
    querystring: statsParameters,
    response: { 200: statsAnswer },
  })
  app.get<{ Querystring: RawQuery }>('/stats', { schema }, async ({ query }) => {
    const now = gateway.clock.now()
    const asked = statsQuery(query, now)
    const { of, group, step, buckets } = asked
    const { series, covered_since, ...stats } = await limit.run(() => readStats(gateway.storage, asked, now))
    return {
      ...{ of, group: nameOf(group), step, time_zone: buckets.time_zone },
      ...{ since: text(buckets.starts[0] ?? asked.since), until: text(buckets.end) },
      ...{ ...stats, covered_since: covered_since === null ? null : text(covered_since) },
      series: series.map((one) => ({ ...one, buckets: one.buckets.map((each) => ({ ...each, at: text(each.at) })) })),
    }
  })
}

const nameOf = (group: Group): string => (group.by === 'attribute' ? `attribute:${group.attribute}` : group.by)

const text = (at: number): string => new Date(at).toISOString()
