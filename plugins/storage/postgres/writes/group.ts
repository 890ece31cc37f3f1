import type { Connection } from '../connection/connection.ts'
import { plain, type Result, type Statement } from '../connection/statement.ts'
import type { Batch } from './batch.ts'
import type { CommitMarkers } from './commit-markers.ts'
import { mergedAdds } from './merged-adds.ts'

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
  return group.length < 2 ? group : group.sort((one, other) => order(lastChanged(one), lastChanged(other)))
}

const order = (one: string, other: string): number => (one < other ? -1 : one === other ? 0 : 1)

const mayShare = ({ isAlone, uncertain }: Batch): boolean => !isAlone && uncertain === undefined

/** Batches of a transaction stand in the order of these rows in every process, so that two transactions seldom wait for each other. */
const lastChanged = ({ touches }: Batch): string =>
  touches.reduce((last, { use, row }) => (use === 'change' && row > last ? row : last), '')

/** Transactions of several batches that wait for each other find out after a second; so long a wait ends them before. */
const PATIENCE = plain(`select set_config('lock_timeout', '200', true)`)
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
  const statements = group.length === 1 ? (group[0]?.statements ?? []) : sharedOrder(group)
  try {
    return { number, written: writtenOf(group, await connection.run([...statements, ...marker, ...sync])) }
  } catch (error) {
    return { number, error }
  }
}

/** What each batch does in its own order, and after all of them what they only add, by rows: many add to the same ones, whose locks are held to the end. */
const sharedOrder = (group: readonly Batch[]): readonly Statement[] => {
  const first = group.flatMap(({ statements, lastAdds }) => statements.slice(0, statements.length - lastAdds.length))
  return [PATIENCE, ...first, ...mergedAdds(group.flatMap(({ lastAdds }) => lastAdds))]
}

const writtenOf = (group: readonly Batch[], results: readonly Result[]): readonly boolean[] => {
  let at = group.length === 1 ? 0 : 1
  return group.map(({ isCounted, statements, lastAdds }) => {
    const first = results[at]
    at += statements.length - lastAdds.length
    return !isCounted || first?.count !== 0
  })
}
