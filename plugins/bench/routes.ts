import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Found, Gateway, SessionRow, Turn } from 'guard-gateway/core'
import { rejectUnknownFilters } from '#lib/errors'
import { Type } from '#lib/json'
import { isContinued, joinedTurns } from '#lib/threads'
import { type CallRecord, newTurnsOf, recordedCalls, rowOf } from '#lib/trace'

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

/** A conversation of a stored session as `bench.trajectory.v1`: tools, hashes and flags, no text. */
interface StoredTrajectory {
  readonly schema: 'bench.trajectory.v1'
  readonly id: string
  readonly source: string
  readonly task: string
  readonly model: string
  readonly split: null
  readonly resolved: null
  readonly label: null
  readonly loop_start_step: null
  readonly system_chars: number
  readonly task_chars: number
  /** What each request took. */
  readonly tokens: readonly number[]
  readonly steps: readonly StoredStep[]
}

interface StoredStep {
  readonly calls: readonly (readonly [tool: string, key: string])[]
  readonly results: readonly {
    readonly hash?: string
    readonly chars: number
    readonly error: boolean
    readonly empty: boolean
  }[]
  readonly user?: string
}

/** The conversations of a session, its requests given oldest first; those without a tool call are left out. */
export const trajectoriesOf = (session: SessionRow, records: readonly CallRecord[]): StoredTrajectory[] => {
  const counted = records.filter(
    (record) =>
      record.decision !== 'block' &&
      !record.retry &&
      isContinued({ outcome: record.outcome, new_turns: newTurnsOf(record) }),
  )
  return [...Map.groupBy(counted, ({ thread }) => thread)]
    .map(([thread, members]) => trajectory(session, thread, members))
    .filter(({ steps }) => steps.some(({ calls }) => calls.length > 0))
}

const trajectory = (
  { id, project_id, client }: SessionRow,
  thread: string,
  records: readonly CallRecord[],
): StoredTrajectory => ({
  schema: 'bench.trajectory.v1',
  id: `${id}/${thread}`,
  source: client === '' ? project_id : client,
  task: id,
  model: records[0]?.model_requested ?? '',
  split: null,
  resolved: null,
  label: null,
  loop_start_step: null,
  system_chars: 0,
  task_chars: 0,
  tokens: records.map(({ total_tokens }) => total_tokens),
  steps: joinedTurns(records.map(rowOf)).map(stepOf),
})

/** What the user said is not stored; that something was said is told by a text that differs from all others. */
const stepOf = ({ calls, user_after }: Turn, index: number): StoredStep => ({
  calls: calls.map(({ tool, key }) => [tool, key]),
  results: calls.map(({ result, error }) => ({
    ...(result === null ? {} : { hash: result }),
    chars: 0,
    error,
    empty: result === null,
  })),
  ...(user_after ? { user: `message after turn ${index + 1}` } : {}),
})
