import type { Reader } from 'guard-gateway/core'
import { isReadableId } from '#lib/ids'
import type { RunRow } from '../tables.ts'

/** Title of each unnamed run, by trace id. */
export const firstSteps = async (storage: Reader, rows: readonly RunRow[]): Promise<ReadonlyMap<string, string>> => {
  const steps = new Map<string, string>()
  await Promise.all(
    rows
      .filter(({ name }) => name === null || name.trim() === '')
      .map(async (row) => {
        const step = await unnamedTitle(storage, row)
        if (step !== undefined) steps.set(row.trace_id, step)
      }),
  )
  return steps
}

/** Title of a run without a name: the name of its session or a client's id that can be read, else its task, else the model or tool of its first step. */
export const unnamedTitle = async (
  storage: Reader,
  { trace_id, session_id, task_id }: Pick<RunRow, 'trace_id' | 'session_id' | 'task_id'>,
): Promise<string | undefined> => {
  const session = session_id === null ? undefined : await storage.get('sessions', session_id)
  const { name = null, external_id = null } = session ?? {}
  return name ?? readable(external_id) ?? task_id ?? firstStep(storage, trace_id)
}

const readable = (external_id: string | null): string | null =>
  external_id !== null && isReadableId(external_id) ? external_id : null

/** Model or tool of a run's first step. */
const firstStep = async (storage: Reader, trace_id: string): Promise<string | undefined> => {
  const where = { trace_id }
  const [calls, spans] = await Promise.all([
    storage.find('calls', { where, order: ['recorded', 'asc'], limit: 1 }),
    storage.find('spans', { where, order: ['recorded', 'asc'], limit: 2 }),
  ])
  return calls.rows[0]?.model_requested ?? spans.rows.find(({ label }) => label !== null)?.label ?? undefined
}
