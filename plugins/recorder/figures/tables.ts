import { type Table, table } from 'guard-gateway/core'
import { type Measure, measures } from './measures.ts'

/** What calls are summed up by, beside the hour in which they were received. All are texts, since they are a key: the empty one stands for null. */
export interface HourGroup {
  /** `2026-03-01T12`, in UTC. Where processes share a storage each adds to a part of the hour, `2026-03-01T12.07`. */
  readonly hour: string
  readonly project_id: string
  readonly agent_id: string
  readonly style: string
  readonly model_requested: string
  readonly upstream: string
  readonly decision: string
  readonly reason: string
}

/** The calls of one hour that are equal in all of these, summed up. */
export interface HourRow extends HourGroup, Readonly<Record<Measure, number | null>> {}

declare module 'guard-gateway/core' {
  interface Tables {
    calls_by_hour: HourRow
  }
}

const key = [
  'hour',
  'project_id',
  'agent_id',
  'style',
  'model_requested',
  'upstream',
  'decision',
  'reason',
] as const satisfies readonly (keyof HourGroup)[]

const texts = { hour: 'text', project_id: 'text', agent_id: 'text', style: 'text', model_requested: 'text' } as const
const more = { upstream: 'text', decision: 'text', reason: 'text' } as const
const sums = Object.fromEntries(measures.map((name) => [name, 'integer'])) as Record<Measure, 'integer'>

export const hourTables: readonly Table[] = [
  table({
    id: 'calls_by_hour',
    key,
    columns: { ...texts, ...more, ...sums },
    indexes: [['hour'], ['project_id', 'hour']],
    exact: key.filter((name) => name !== 'model_requested'),
  }),
]
