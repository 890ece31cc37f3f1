import { readFileSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import type { Table } from 'guard-gateway/core'
import { isChange, type Shape } from '../../kysely/shape.ts'
import type { BatchValues, LogPosition, OpenOptions } from '../protocol.ts'
import { isUniqueViolation, reasonOf } from '../sqlite-errors.ts'
import { type PreparedChange, prepareChange, runChange } from '../worker/prepared-change.ts'
import { Statements } from '../worker/statements.ts'
import { type BatchesLine, type Heading, logFiles, type ShapesLine } from './format.ts'
import { isWritten } from './progress.ts'

/**
 * Writes the batches that the previous process logged and did not commit. If a condition of a batch fails, no caller waits for that
 * answer any more: the other changes of the batch are still written. Sums are an exception. A refused batch may be written again under
 * another number before the process dies, and both are in the log then: sums are written with the first change of their batch alone.
 * Throws errors of SQLite.
 */
export const replayLogs = (db: Database, { file, tables }: OpenOptions, position: LogPosition): void => {
  const logs = logFiles(file)
    .map(readLog)
    .filter((log) => log.database === position.database)
  for (const { lines } of logs.sort((one, other) => one.turn - other.turn)) {
    const replay = new LogReplay(db, tables, position)
    for (const line of lines) replay.apply(line)
  }
}

/** Replays one log: writes its batches that the database does not hold, as far as possible. */
class LogReplay {
  readonly #statements: Statements
  readonly #tables: ReadonlyMap<string, Table>
  readonly #changes: (PreparedChange | undefined)[] = []
  readonly #shapes: Shape[] = []
  readonly #position: LogPosition

  constructor(db: Database, tables: readonly Table[], position: LogPosition) {
    this.#position = position
    this.#statements = new Statements(db)
    this.#tables = new Map(tables.map((table) => [table.id, table]))
  }

  apply(line: ShapesLine | BatchesLine): void {
    if ('shapes' in line) this.#shapes.push(...line.shapes)
    else for (const batch of line) if (!isWritten(this.#position, Number(batch[0]))) this.#write(batch)
  }

  #write(batch: BatchValues): void {
    let isFirstWritten = false
    for (let at = 2; at < batch.length; ) {
      const change = this.#change(Number(batch[at]))
      // no plugin has this table any more
      if (change === undefined) return
      const isFirst = at === 2
      if (isFirst || isFirstWritten || !change.isSum) {
        const isWritten = this.#run(change, batch, at + 1)
        if (isFirst) isFirstWritten = isWritten
      }
      at += 1 + change.arity
    }
  }

  /** False if its condition failed. */
  #run(change: PreparedChange, batch: BatchValues, at: number): boolean {
    try {
      return runChange(change, batch, at)
    } catch (error) {
      if (!isUniqueViolation(error) && reasonOf(error) !== 'fault') throw error
      return false
    }
  }

  #change(number: number): PreparedChange | undefined {
    const known = this.#changes[number]
    if (known !== undefined) return known
    const shape = this.#shapes[number]
    const table = this.#tables.get(shape?.table ?? '')
    if (table === undefined || shape === undefined || !isChange(shape)) return undefined
    const made = prepareChange(table, shape, this.#statements)
    this.#changes[number] = made
    return made
  }
}

/** The last turn of a log. */
interface Log extends Heading {
  readonly lines: readonly (ShapesLine | BatchesLine)[]
}

/** Reads the complete lines of a log's last turn. A file that is missing, or is no log, is a log of no database. */
export const readLog = (name: string): Log => {
  const [heading = { database: '', turn: 0 }, ...lines] = readLines(name)
  return { ...(heading as Heading), lines: lines as Log['lines'] }
}

const readLines = (name: string): unknown[] => {
  // the text after the last line break is incomplete, and no caller was answered for it
  const texts = textOf(name).split('\n').slice(0, -1)
  const suffix = suffixOf(texts[0] ?? '')
  const lines: unknown[] = []
  for (const text of texts) {
    if (!text.endsWith(suffix)) break
    try {
      lines.push(JSON.parse(text.slice(0, text.length - suffix.length)))
    } catch {
      break
    }
  }
  return lines
}

/** The suffix of all lines, found at the end of the heading. */
const suffixOf = (heading: string): string => heading.slice(heading.lastIndexOf(' '))

const textOf = (name: string): string => {
  try {
    return readFileSync(name, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
