import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs'
import type { Shape } from '../../kysely/shape.ts'
import { type Heading, lineEnd, logFiles, type ShapesLine } from './format.ts'

/** A log so long is left for the other one. */
const LONG = 2 * 1024 * 1024
/** A file that had to become longer is cut to this. */
const LONGEST_KEPT = 2 * LONG

interface Log {
  readonly handle: number
  /** Of its turn; behind them may stand what is left of an earlier one. */
  bytes: number
  /** What stands behind each line of its turn. */
  end: string
  /** How many shapes it tells. */
  shapes: number
  /** Number of its last batch. */
  last: number
}

/**
 * Batches on their way into the database, in two files beside it: what stands here survives the death of the process
 * and is written by the next one. It takes some microseconds and waits for no other thread.
 */
export class AheadLog {
  readonly #names: readonly string[]
  readonly #shapes: readonly Shape[]
  readonly #fault: (error: unknown) => void
  #logs: Log[] = []
  #database = ''
  #turn = 0

  /** `shapes`: all that batches use, by number; it may grow. `fault` is told if the files cannot be had. */
  constructor(file: string, shapes: readonly Shape[], fault: (error: unknown) => void) {
    this.#names = logFiles(file)
    this.#shapes = shapes
    this.#fault = fault
  }

  /** From now on batches are of this database. The files are made with the first one. */
  begin(database: string): void {
    if (database === this.#database) return
    this.#close()
    this.#database = database
  }

  /**
   * Appends a line of batches, as JSON, of which the last has the number `last`; those up to `committed` are in the database.
   * False if it could not be written: then it is as if it had not been tried.
   */
  append(batches: string, last: number, committed: number): boolean {
    try {
      const log = this.#current(committed)
      if (log === undefined) return false
      if (log.shapes < this.#shapes.length) {
        write(log, JSON.stringify({ shapes: this.#shapes.slice(log.shapes) } satisfies ShapesLine))
        log.shapes = this.#shapes.length
      }
      write(log, batches)
      log.last = Math.max(log.last, last)
      return true
    } catch {
      return false
    }
  }

  /** Ends without touching the files: they are another process's now. */
  leave(): void {
    this.#close()
  }

  /** Ends; the files go unless they hold batches that are not in the database. */
  end(committed: number): void {
    if (this.#logs.length === 0) return
    const isNeeded = this.#logs.some(({ last }) => last > committed)
    this.#close()
    if (!isNeeded) for (const name of this.#names) rmSync(name, { force: true })
  }

  #current(committed: number): Log | undefined {
    if (this.#database === '') return undefined
    if (this.#logs.length === 0) this.#open()
    const log = this.#logs[this.#turn % 2]
    if (log === undefined || (log.bytes > 0 && log.bytes < LONG)) return log
    const next = this.#logs[(this.#turn + 1) % 2]
    if (next === undefined || next.last > committed) return log
    if (next.bytes > LONGEST_KEPT) ftruncateSync(next.handle, LONGEST_KEPT)
    const turn = this.#turn + 1
    Object.assign(next, { bytes: 0, end: lineEnd(turn), shapes: 0 })
    write(next, JSON.stringify({ database: this.#database, turn } satisfies Heading))
    this.#turn = turn
    return next
  }

  /** Without logs, which cannot be opened, a database is as safe and slower. */
  #open(): void {
    try {
      for (const name of this.#names) {
        // one that another has put there may be open to others, or lead elsewhere
        rmSync(name, { force: true })
        this.#logs.push({ handle: openSync(name, 'wx', 0o600), bytes: 0, end: '', shapes: 0, last: 0 })
      }
    } catch (error) {
      this.#close()
      this.#fault(error)
    }
  }

  #close(): void {
    for (const { handle } of this.#logs) closeSync(handle)
    this.#logs = []
    this.#database = ''
  }
}

/** Throws if the line was not written whole; the next one takes its place. */
const write = (log: Log, json: string): void => {
  const line = json + log.end
  const bytes = Buffer.byteLength(line)
  if (writeSync(log.handle, line, log.bytes) < bytes) throw new Error('the disk is full')
  log.bytes += bytes
}
