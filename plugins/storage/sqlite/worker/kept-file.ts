import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { ANSWER_MS, Superseded } from '../ahead/ownership.ts'
import { Progress } from '../ahead/progress.ts'
import { CheckpointBehind } from '../checkpoints/behind.ts'
import { Checkpoints } from '../checkpoints/checkpoints.ts'
import { Journal } from '../checkpoints/journal.ts'
import { messageOf, reasonOf } from '../failure.ts'
import { modeWarning } from '../file/file.ts'
import { Refusal } from '../file/refusal.ts'
import type { Ask, BatchValues, FromWorker, Start, ToWorker } from '../protocol.ts'
import { Asks } from './asks.ts'
import { type Opened, openDatabase } from './database.ts'
import { Group } from './group.ts'
import { Statements } from './statements.ts'
import { stillThere } from './still-there.ts'
import { ToldShapes } from './told-shapes.ts'

/** Opens a file and does with it what the port says, until it says to close it; a file that is refused is told. Throws what only another thread can mend. */
export const keep = async (port: MessagePort, start: Start): Promise<void> => {
  try {
    new KeptFile(port, start, await openDatabase(start)).begin()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    port.postMessage({ kind: 'refused', code: error.code, message: error.message } satisfies FromWorker)
  }
}

const batchesOf = (part: string | readonly BatchValues[]): readonly BatchValues[] =>
  typeof part === 'string' ? (JSON.parse(part) as readonly BatchValues[]) : part

class KeptFile {
  readonly #port: MessagePort
  readonly #start: Start
  readonly #opened: Opened
  readonly #shapes: ToldShapes
  readonly #progress: Progress | undefined
  readonly #group: Group
  readonly #behind: CheckpointBehind
  readonly #checkpoints: Checkpoints
  readonly #asks: Asks
  readonly #isThere: () => boolean
  readonly #journal: Journal
  #looked_at = 0
  #looking: NodeJS.Timeout | undefined
  #isSuperseded = false
  #batches: BatchValues[] = []
  #bytes = 0
  readonly #waiting: Ask[] = []
  #isProbing = false
  #isClosing = false

  constructor(port: MessagePort, start: Start, opened: Opened) {
    const { db, place, ownership } = opened
    this.#port = port
    this.#start = start
    this.#opened = opened
    const statements = new Statements(db)
    this.#shapes = new ToldShapes(start.tables, statements)
    this.#progress = place && new Progress(db, place)
    this.#group = new Group(db, start, (number) => this.#shapes.change(number), this.#progress, ownership)
    this.#behind = new CheckpointBehind(start, (message) => this.#say({ kind: 'warning', message }))
    this.#checkpoints = new Checkpoints(db, this.#behind)
    this.#asks = new Asks(db, this.#group, statements, (number) => this.#shapes.shape(number))
    this.#isThere = stillThere(start)
    this.#journal = new Journal(start, (bytes) => this.#say({ kind: 'journal', bytes }))
  }

  begin(): void {
    this.#say({ kind: 'open', place: this.#opened.place })
    const message = modeWarning(this.#start.file)
    if (message !== undefined) this.#say({ kind: 'warning', message })
    this.#port.on('message', this.#hear)
    this.#lookAround()
    this.#looking = setInterval(() => this.#lookAround(), ANSWER_MS).unref()
  }

  /** What others have done to the database meanwhile; who writes without a pause looks between two groups. */
  #lookAround(): void {
    this.#looked_at = performance.now()
    this.#journal.look()
    if (this.#journal.isLong) this.#checkpoints.shorten()
    try {
      if (!this.#isSuperseded) this.#opened.ownership?.answer()
    } catch (error) {
      if (error instanceof Superseded) this.#superseded(error)
      // else a lock or a disk that fails the next commit as well
    }
  }

  #superseded({ message }: Error): void {
    if (this.#isSuperseded) return
    this.#isSuperseded = true
    this.#say({ kind: 'superseded', message })
  }

  #say(message: FromWorker): void {
    this.#port.postMessage(message)
  }

  readonly #hear = (message: ToWorker): void => {
    this.#accept(message)
    this.#work()
    if (!this.#isClosing) return
    this.#isClosing = false
    void this.#close()
  }

  #accept(message: ToWorker): void {
    if (message.kind === 'write') {
      for (const part of message.parts) this.#batches.push(...batchesOf(part))
      this.#bytes += message.bytes
    } else if (message.kind === 'shape') this.#shapes.add(message.number, message.shape)
    else if (message.kind === 'forget') this.#progress?.forget(message.batch)
    else if (message.kind === 'probe') this.#isProbing = true
    else if (message.kind === 'close') this.#isClosing = true
    else this.#waiting.push(message)
  }

  /** Until nothing is left: commits what waits, then one step of one question. */
  #work(): void {
    for (;;) {
      this.#drain()
      if (this.#batches.length > 0) this.#write()
      else if (this.#isProbing) this.#probe()
      else {
        const ask = this.#waiting.shift()
        if (ask === undefined) return
        this.#answer(ask)
      }
    }
  }

  /** Takes everything that has arrived, without waiting for the event loop. */
  #drain(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#port)
      if (received === undefined) return
      this.#accept(received.message as ToWorker)
    }
  }

  #write(): void {
    // the next thread is sent again what is not answered
    if (!this.#isThere())
      throw new Error(
        `The database ${this.#start.file} or its journal was removed or replaced while it was in use. What bears the name now is opened; what a removed database held is not on record any more.`,
      )
    if (performance.now() - this.#looked_at >= ANSWER_MS) this.#lookAround()
    else this.#journal.grown(this.#bytes)
    const batches = this.#batches
    this.#batches = []
    const { refusal } = this.#journal
    const outcome = refusal === undefined ? this.#group.commit(batches) : this.#group.refuse(batches, refusal)
    this.#say({ kind: 'wrote', ...outcome, applied: this.#progress?.applied ?? 0 })
    // it stays that way
    if (outcome.failed.length > 0) this.#lookAround()
    this.#checkpoints.committed(batches.length > 1, this.#bytes)
    this.#bytes = 0
  }

  /** Finds out whether there is room again: writes some pages and frees them. */
  #probe(): void {
    this.#isProbing = false
    const { db } = this.#opened
    const make = () =>
      db.exec('create table guard_probe (filler blob); insert into guard_probe values (zeroblob(65536))')
    this.#lookAround()
    const failed = this.#probed(make)
    const done = failed instanceof Error ? failed : this.#group.transact(false, () => db.exec('drop table guard_probe'))
    this.#say({
      kind: 'wrote',
      done: [],
      applied: this.#progress?.applied ?? 0,
      failed: done instanceof Error ? [{ id: 0, reason: reasonOf(done), message: messageOf(done) }] : [],
    })
  }

  #probed(make: () => void): unknown {
    const { refusal } = this.#journal
    if (refusal !== undefined) return Object.assign(new Error(refusal), { code: 'SQLITE_FULL' })
    return this.#group.transact(false, make)
  }

  #answer(ask: Ask): void {
    try {
      const step = this.#asks.step(ask)
      if (step.done) this.#say({ kind: 'answer', id: ask.id, value: step.value })
      else this.#waiting.push(ask)
    } catch (error) {
      this.#asks.forget(ask.id)
      this.#say({ kind: 'failed', id: ask.id, reason: reasonOf(error), message: messageOf(error) })
    }
  }

  async #close(): Promise<void> {
    clearInterval(this.#looking)
    if (this.#progress?.isBehind === true) this.#group.commit([])
    await this.#behind.close()
    this.#release()
    this.#opened.close()
    // what comes now is for the next file
    this.#port.off('message', this.#hear)
    this.#say({ kind: 'closed' })
  }

  /** Who opens the file next need not ask whether this process is still there. */
  #release(): void {
    try {
      if (!this.#isSuperseded) this.#opened.ownership?.release()
    } catch {
      // it is found out by the number of the process
    }
  }
}
