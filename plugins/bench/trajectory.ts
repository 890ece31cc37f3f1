import type { SessionRow, Turn } from 'guard-gateway/core'
import { isContinued, joinedTurns } from 'guard-gateway/lib/threads'
import { type CallRecord, newTurnsOf, rowOf } from 'guard-gateway/lib/trace'

/** A conversation of a stored session as `bench.trajectory.v1`: tools, hashes and flags, no text. */
export interface StoredTrajectory {
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
