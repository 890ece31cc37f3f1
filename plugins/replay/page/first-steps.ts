import type { Reader } from 'guard-gateway/core'
import type { RunRow } from '../tables.ts'

/** Model or tool of the first step of each unnamed run, by trace id. */
export const firstSteps = async (storage: Reader, rows: readonly RunRow[]): Promise<ReadonlyMap<string, string>> => {
  const steps = new Map<string, string>()
  await Promise.all(
    rows
      .filter(({ name }) => name === null || name.trim() === '')
      .map(async ({ trace_id }) => {
        const step = await firstStep(storage, trace_id)
        if (step !== undefined) steps.set(trace_id, step)
      }),
  )
  return steps
}

/** Model or tool of a run's first step. */
export const firstStep = async (storage: Reader, trace_id: string): Promise<string | undefined> => {
  const where = { trace_id }
  const [calls, spans] = await Promise.all([
    storage.find('calls', { where, order: ['recorded', 'asc'], limit: 1 }),
    storage.find('spans', { where, order: ['recorded', 'asc'], limit: 2 }),
  ])
  return calls.rows[0]?.model_requested ?? spans.rows.find(({ label }) => label !== null)?.label ?? undefined
}
