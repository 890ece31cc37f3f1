import type { Connection } from '../connection/connection.ts'
import { plain, type Result } from '../connection/statement.ts'
import type { Batch } from './batch.ts'
import type { CommitMarkers } from './commit-markers.ts'

/** The most batches of one transaction. */
const MAX_GROUP = 8

/**
 * Takes the batches of the next transaction from those that may run. There are several only while more wait than there are writers:
 * a commit waits for the disk of the server, and those that add to the same row, such as that of the present hour, wait for one another.
 */
export const takeGroup = (ready: Batch[], writers: number): readonly Batch[] => {
  const size = Math.min(MAX_GROUP, Math.ceil(ready.length / writers))
  const end = ready.slice(0, size).findIndex((batch) => !mayShare(batch))
  const group = ready.splice(0, end === -1 ? size : Math.max(1, end))
  // rows that many add to are locked in the same order by every process
  return group.length < 2 ? group : group.sort((one, other) => (lastAdded(one) < lastAdded(other) ? -1 : 1))
}

const mayShare = ({ isAlone, uncertain }: Batch): boolean => !isAlone && uncertain === undefined

const lastAdded = ({ touches }: Batch): string =>
  touches.reduce((last, { use, row }) => (use === 'add' && row > last ? row : last), '')

const SYNC = plain(`select set_config('synchronous_commit', 'on', true)`)

/** What became of a transaction: for each of its batches whether it was written, or the error. `number`: of its marker, if it has one. */
export interface GroupResult {
  readonly number: number | undefined
  readonly written?: readonly boolean[]
  readonly error?: unknown
}

/** Runs batches as one transaction, in one round trip. */
export const runGroup = async (
  connection: Connection,
  group: readonly Batch[],
  markers: CommitMarkers,
): Promise<GroupResult> => {
  const number = group.every(({ onlyLooks }) => onlyLooks) ? undefined : markers.begin(group.length)
  const marker = number === undefined ? [] : [markers.statement(number)]
  const sync = group.some(({ waiter }) => waiter.sync) ? [SYNC] : []
  const statements = [...group.flatMap((batch) => batch.statements), ...marker, ...sync]
  try {
    return { number, written: writtenOf(group, await connection.run(statements)) }
  } catch (error) {
    return { number, error }
  }
}

const writtenOf = (group: readonly Batch[], results: readonly Result[]): readonly boolean[] => {
  let at = 0
  return group.map(({ isCounted, statements }) => {
    const first = results[at]
    at += statements.length
    return !isCounted || first?.count !== 0
  })
}
