import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Found, Gateway, SessionRow } from 'guard-gateway/core'
import { rejectUnknownFilters } from 'guard-gateway/lib/errors'
import { Type } from 'guard-gateway/lib/json'
import { recordedCalls } from 'guard-gateway/lib/trace'
import { trajectoriesOf } from './trajectory.ts'

const MOST_CALLS = 5000

const Query = Type.Object({
  since: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Sessions with requests since; milliseconds since 1970' }),
  ),
  project_id: Type.Optional(Type.String()),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Sessions looked at' }),
  cursor: Type.Optional(Type.String()),
})

const Answer = Type.Object({
  trajectories: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    description: 'bench.trajectory.v1: tools, hashes and flags of stored conversations, no text',
  }),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
})

/** Stored sessions as trajectories for a bench, below `/api`. */
export const trajectoryRoutes =
  (gateway: Gateway): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/export/trajectories',
      {
        schema: {
          summary: 'Export stored conversations as trajectories for a bench, newest sessions first',
          querystring: Query,
          response: { 200: Answer },
        },
      },
      async ({ query }) => {
        rejectUnknownFilters(query, Query)
        const { since = 0, project_id, limit, cursor } = query
        const page: Found<SessionRow> = await gateway.storage.find('sessions', {
          where: project_id === undefined ? {} : { project_id },
          limit,
          ...(cursor === undefined ? {} : { cursor }),
        })
        const sessions = page.rows.filter(({ last_seen_at }) => last_seen_at >= since)
        return { trajectories: await trajectoriesIn(gateway, sessions), next_cursor: page.next_cursor }
      },
    )
  }

const trajectoriesIn = async ({ storage }: Gateway, sessions: readonly SessionRow[]) => {
  const found = []
  for (const session of sessions) {
    const { records } = await recordedCalls(storage, session.id, MOST_CALLS)
    found.push(...trajectoriesOf(session, records))
  }
  return found.map((one) => ({ ...one }))
}
