import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs'
import type { Shape } from '../../kysely/shape.ts'
import { type Heading, lineEnd, logFiles, type ShapesLine } from './format.ts'

/** The size at which writing switches to the other log, in bytes. */
const SWITCH_BYTES = 2 * 1024 * 1024
/** A file that had to grow beyond this is truncated to it. */
const MAX_RETAINED_BYTES = 2 * SWITCH_BYTES

interface Log {
  readonly handle: number
  /** Bytes of the current turn. Bytes of an earlier turn may follow them. */
  bytes: number
  /** The suffix of each line of the current turn. */
  end: string
  /** How many statement shapes it holds. */
  shapes: number
  /** The number of its last batch. */
  last: number
}

/**
 * A redo log: batches that are not committed yet, in two files beside the database. They survive the death of the process,
 * and the next process replays them. An append takes some microseconds and waits for no other thread.
 */
export class RedoLog {
  readonly #names: readonly string[]
  readonly #shapes: readonly Shape[]
  readonly #fault: (error: unknown) => void
  #logs: Log[] = []
  #database = ''
  #turn = 0

  /** `shapes`: all statement shapes that batches use, by number; the list may grow. `fault` is called if the files cannot be created. */
  constructor(file: string, shapes: readonly Shape[], fault: (error: unknown) => void) {
    this.#names = logFiles(file)
    this.#shapes = shapes
    this.#fault = fault
  }

  /** Names the database that later batches are for. The first batch creates the files. */
  begin(database: string): void {
    if (database === this.#database) return
    this.#closeFiles()
    this.#database = database
  }

  /**
   * Appends a line of batches, as JSON. `last` is the number of the last of them; batches up to `committed` are in the database.
   * Returns false if the line could not be written; the log is then unchanged.
   */
  append(batches: string, last: number, committed: number): boolean {
    try {
      const log = this.#writable(committed)
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

  /** Closes the log without touching the files, which belong to another process now. */
  abandon(): void {
    this.#closeFiles()
  }

  /** Closes the log. Removes the files unless they hold batches that are not in the database. */
  close(committed: number): void {
    if (this.#logs.length === 0) return
    const isNeeded = this.#logs.some(({ last }) => last > committed)
    this.#closeFiles()
    if (!isNeeded) for (const name of this.#names) rmSync(name, { force: true })
  }

  #writable(committed: number): Log | undefined {
    if (this.#database === '') return undefined
    if (this.#logs.length === 0) this.#createFiles()
    const log = this.#logs[this.#turn % 2]
    if (log === undefined || (log.bytes > 0 && log.bytes < SWITCH_BYTES)) return log
    const next = this.#logs[(this.#turn + 1) % 2]
    if (next === undefined || next.last > committed) return log
    if (next.bytes > MAX_RETAINED_BYTES) ftruncateSync(next.handle, MAX_RETAINED_BYTES)
    const turn = this.#turn + 1
    Object.assign(next, { bytes: 0, end: lineEnd(turn), shapes: 0 })
    write(next, JSON.stringify({ database: this.#database, turn } satisfies Heading))
    this.#turn = turn
    return next
  }

  /** Without logs, if they cannot be created, each write waits for its commit: the database is as safe, and slower. */
  #createFiles(): void {
    try {
      for (const name of this.#names) {
        // a file that someone else put there may be open to others, or may be a link
        rmSync(name, { force: true })
        this.#logs.push({ handle: openSync(name, 'wx', 0o600), bytes: 0, end: '', shapes: 0, last: 0 })
      }
    } catch (error) {
      this.#closeFiles()
      this.#fault(error)
    }
  }

  #closeFiles(): void {
    for (const { handle } of this.#logs) closeSync(handle)
    this.#logs = []
    this.#database = ''
  }
}

/** Throws if the line was not written completely. The next line overwrites it. */
const write = (log: Log, json: string): void => {
  const line = json + log.end
  const bytes = Buffer.byteLength(line)
  if (writeSync(log.handle, line, log.bytes) < bytes) throw new Error('the disk is full')
  log.bytes += bytes
}
