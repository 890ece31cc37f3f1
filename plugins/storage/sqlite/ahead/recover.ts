import type { Database } from 'better-sqlite3'
import type { Table } from 'guard-gateway/core'
import type { Shape } from '../../kysely/shape.ts'
import { isTaken, reasonOf } from '../failure.ts'
import type { BatchValues, Start } from '../protocol.ts'
import { type ReadyChange, readyChange, runChange } from '../worker/changes.ts'
import { Statements } from '../worker/statements.ts'
import { type BatchesLine, logFiles, type ShapesLine } from './format.ts'
import type { Place } from './place.ts'
import { isWritten } from './progress.ts'
import { readLog } from './read.ts'

/**
 * Writes what the process that had the database before could not bring to its end. Where a condition fails nobody waits for the
 * answer any more: what the batch writes without one is written. Throws what SQLite throws.
 */
export const recover = (db: Database, { file, tables }: Start, place: Place): void => {
  const logs = logFiles(file)
    .map(readLog)
    .filter((log) => log.database === place.database)
  for (const { lines } of logs.sort((one, other) => one.turn - other.turn)) {
    const writer = new Writer(db, tables, place)
    for (const line of lines) writer.take(line)
  }
}

/** Writes the batches of a log that the database does not hold, as far as they can be. */
class Writer {
  readonly #statements: Statements
  readonly #tables: ReadonlyMap<string, Table>
  readonly #changes: (ReadyChange | undefined)[] = []
  readonly #shapes: Shape[] = []
  readonly #place: Place

  constructor(db: Database, tables: readonly Table[], place: Place) {
    this.#place = place
    this.#statements = new Statements(db)
    this.#tables = new Map(tables.map((table) => [table.id, table]))
  }

  take(line: ShapesLine | BatchesLine): void {
    if ('shapes' in line) this.#shapes.push(...line.shapes)
    else for (const batch of line) if (!isWritten(this.#place, Number(batch[0]))) this.#write(batch)
  }

  #write(batch: BatchValues): void {
    for (let at = 2; at < batch.length; ) {
      const change = this.#change(Number(batch[at]))
      // of a table that no plugin has any more
      if (change === undefined) return
      this.#run(change, batch, at + 1)
      at += 1 + change.arity
    }
  }

  #run(change: ReadyChange, batch: BatchValues, at: number): void {
    try {
      runChange(change, batch, at)
    } catch (error) {
      if (!isTaken(error) && reasonOf(error) !== 'fault') throw error
    }
  }

  #change(number: number): ReadyChange | undefined {
    const known = this.#changes[number]
    if (known !== undefined) return known
    const shape = this.#shapes[number]
    const table = this.#tables.get(shape?.table ?? '')
    if (table === undefined || (shape?.kind !== 'put' && shape?.kind !== 'patch' && shape?.kind !== 'remove'))
      return undefined
    const made = readyChange(table, shape, this.#statements)
    this.#changes[number] = made
    return made
  }
}
