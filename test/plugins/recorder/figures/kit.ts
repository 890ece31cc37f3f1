import type { Storage } from 'guard-gateway/core'
import { pages } from '#lib/paging'
import type { CallRecord } from '#lib/trace'
import { measuresOf } from '../../../../plugins/recorder/figures/measures.ts'
import type { HourRow } from '../../../../plugins/recorder/figures/tables.ts'

type Sums = Readonly<Record<string, Readonly<Record<string, number>>>>

/** Rows of the sums, by group: `hour project agent style model upstream decision reason`. Sums of 0 are left out. */
export const storedSums = async (storage: Storage): Promise<Sums> => {
  const found: Record<string, Record<string, number>> = {}
  for await (const rows of pages(storage, 'calls_by_hour', {}))
    for (const row of rows) found[nameOf(row)] = countsOf(row)
  return sorted(found)
}

const KEY = ['hour', 'project_id', 'agent_id', 'style', 'model_requested', 'upstream', 'decision', 'reason'] as const

const nameOf = (row: HourRow): string => KEY.map((name) => row[name]).join('|')

const countsOf = (row: HourRow): Record<string, number> =>
  Object.fromEntries(
    Object.entries(row).filter((cell): cell is [string, number] => typeof cell[1] === 'number' && cell[1] !== 0),
  )

/** What the sums must be, by the calls on record. */
export const recordedSums = async (storage: Storage): Promise<Sums> => {
  const found: Record<string, Record<string, number>> = {}
  for await (const calls of pages(storage, 'calls', {})) for (const call of calls) add(found, call)
  for (const [name, sums] of Object.entries(found))
    found[name] = Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0))
  return sorted(found)
}

const add = (found: Record<string, Record<string, number>>, call: CallRecord): void => {
  const hour = new Date(call.received_at).toISOString().slice(0, 13)
  const { project_id, agent_id, style, model_requested, upstream, decision, reason } = call
  const name = [hour, project_id, agent_id, style, model_requested, upstream, decision, reason].join('|')
  const sums = found[name] ?? {}
  found[name] = sums
  for (const [column, sum] of Object.entries(measuresOf(call))) sums[column] = (sums[column] ?? 0) + (sum ?? 0)
}

const sorted = (sums: Record<string, Record<string, number>>): Sums =>
  Object.fromEntries(Object.entries(sums).sort(([one], [other]) => (one < other ? -1 : 1)))
