import type { Reader } from 'guard-gateway/core'
import type { RunRow } from '../tables.ts'

/** What the first step of each run without a name asked for, by trace id: a model, a tool. */
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

/** What the first step of a run asked for. */
export const firstStep = async (storage: Reader, trace_id: string): Promise<string | undefined> => {
  const where = { trace_id }
  const [calls, spans] = await Promise.all([
    storage.find('calls', { where, order: ['recorded', 'asc'], limit: 1 }),
    storage.find('spans', { where, order: ['recorded', 'asc'], limit: 2 }),
  ])
  return calls.rows[0]?.model_requested ?? spans.rows.find(({ label }) => label !== null)?.label ?? undefined
}
