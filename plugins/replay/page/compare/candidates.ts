import type { Reader } from 'guard-gateway/core'
import { queryTokens } from 'guard-gateway/lib/text'
import type { RunRow } from '../../tables.ts'

/** Runs that are offered for a comparison at most. */
export const MAX_CHOICES = 50

/** Runs to compare a run with: those of its project that hold the words, those of the same task first. `more`: there are others. */
export const runsToCompare = async (
  storage: Reader,
  run: RunRow,
  words: string,
): Promise<{ readonly rows: readonly RunRow[]; readonly more: boolean }> => {
  const tokens = queryTokens(words)
  const [alike, newest] = await Promise.all([runsOfTask(storage, run, tokens), find(storage, run, tokens)])
  const rows = new Map([...alike, ...newest.rows].map((row) => [row.trace_id, row]))
  rows.delete(run.trace_id)
  const all = [...rows.values()]
  return { rows: all.slice(0, MAX_CHOICES), more: newest.next_cursor !== null || all.length > MAX_CHOICES }
}

const find = (storage: Reader, { project_id }: RunRow, search: readonly string[]) =>
  storage.find('runs', {
    where: { project_id },
    ...(search.length === 0 ? {} : { search }),
    limit: MAX_CHOICES + 1,
  })

/** Newest runs of the same task, by the search index, which holds names and tasks. */
const runsOfTask = async (storage: Reader, run: RunRow, tokens: readonly string[]): Promise<readonly RunRow[]> => {
  const title = queryTokens(run.task_id ?? run.name ?? '')
  if (title.length === 0) return []
  const { rows } = await find(storage, run, [...title, ...tokens])
  return rows.filter((other) => isSameTask(run, other))
}

/** Both do the same task; of runs without one, both have the same name. */
export const isSameTask = (one: RunRow, other: RunRow): boolean =>
  one.task_id === null && other.task_id === null
    ? one.name !== null && one.name === other.name
    : one.task_id === other.task_id
