import { statSync } from 'node:fs'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Table } from 'guard-gateway/core'
import { isChange, type Shape } from '../../kysely/shape.ts'
import { CheckpointThread } from '../checkpoints/checkpoint-thread.ts'
import { Checkpoints } from '../checkpoints/checkpoints.ts'
import { Journal } from '../checkpoints/journal.ts'
import { modeWarning } from '../file/file.ts'
import { Refusal } from '../file/refusal.ts'
import type { BatchValues, FromWorker, OpenOptions, ToWorker, WorkerQuery } from '../protocol.ts'
import { CLAIM_POLL_MS, Superseded } from '../redo-log/ownership.ts'
import { Progress } from '../redo-log/progress.ts'
import { messageOf, reasonOf } from '../sqlite-errors.ts'
import { type Connection, openConnection } from './connection.ts'
import { GroupCommit } from './group-commit.ts'
import { prepareChange } from './prepared-change.ts'
import { Queries } from './queries.ts'
import { Statements } from './statements.ts'

/** Opens a file and handles the messages of the port until one says to close it. Reports a file that it refuses to open. Any other error ends the thread, so that a new one takes over. */
const serveDatabase = async (port: MessagePort, options: OpenOptions): Promise<void> => {
  try {
    new OpenDatabase(port, options, await openConnection(options)).serve()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    port.postMessage({ kind: 'refused', code: error.code, message: error.message } satisfies FromWorker)
  }
}

const batchesOf = (part: string | readonly BatchValues[]): readonly BatchValues[] =>
  typeof part === 'string' ? (JSON.parse(part) as readonly BatchValues[]) : part

/** A database that this thread has open: writes batches and answers queries. */
class OpenDatabase {
  readonly #port: MessagePort
  readonly #options: OpenOptions
  readonly #connection: Connection
  readonly #shapes: StatementShapes
  readonly #progress: Progress | undefined
  readonly #group: GroupCommit
  readonly #checkpointThread: CheckpointThread
  readonly #checkpoints: Checkpoints
  readonly #queries: Queries
  readonly #isSameFile: () => boolean
  readonly #journal: Journal
  #checked_at = 0
  #checkTimer: NodeJS.Timeout | undefined
  #isSuperseded = false
  #batches: BatchValues[] = []
  #bytes = 0
  readonly #waitingQueries: WorkerQuery[] = []
  #isProbing = false
  #isClosing = false

  constructor(port: MessagePort, options: OpenOptions, connection: Connection) {
    const { db, position, ownership } = connection
    this.#port = port
    this.#options = options
    this.#connection = connection
    const statements = new Statements(db)
    this.#shapes = new StatementShapes(options.tables, statements)
    this.#progress = position && new Progress(db, position)
    this.#group = new GroupCommit(db, options, (number) => this.#shapes.change(number), this.#progress, ownership)
    this.#checkpointThread = new CheckpointThread(options, (message) => this.#post({ kind: 'warning', message }))
    this.#checkpoints = new Checkpoints(db, this.#checkpointThread)
    this.#queries = new Queries(db, this.#group, statements, (number) => this.#shapes.shape(number))
    this.#isSameFile = watchFileIdentity(options)
    this.#journal = new Journal(options, (bytes) => this.#post({ kind: 'journal', bytes }))
  }

  serve(): void {
    this.#post({ kind: 'open', position: this.#connection.position })
    const message = modeWarning(this.#options.file)
    if (message !== undefined) this.#post({ kind: 'warning', message })
    this.#port.on('message', this.#onMessage)
    this.#checkOthers()
    this.#checkTimer = setInterval(() => this.#checkOthers(), CLAIM_POLL_MS).unref()
  }

  /** Checks what other processes have done to the database. A timer calls it, and busy writing calls it between two groups. */
  #checkOthers(): void {
    this.#checked_at = performance.now()
    this.#journal.measure()
    if (this.#journal.isLong || this.#journal.isOld) this.#checkpoints.truncate()
    try {
      if (!this.#isSuperseded) this.#connection.ownership?.answerClaims()
    } catch (error) {
      if (error instanceof Superseded) this.#superseded(error)
      // any other error is a lock or a disk that also fails the next commit
    }
  }

  #superseded({ message }: Error): void {
    if (this.#isSuperseded) return
    this.#isSuperseded = true
    this.#post({ kind: 'superseded', message })
  }

  #post(message: FromWorker): void {
    this.#port.postMessage(message)
  }

  readonly #onMessage = (message: ToWorker): void => {
    this.#enqueue(message)
    this.#workAll()
    if (!this.#isClosing) return
    this.#isClosing = false
    void this.#close()
  }

  #enqueue(message: ToWorker): void {
    if (message.kind === 'write') {
      for (const part of message.parts) this.#batches.push(...batchesOf(part))
      this.#bytes += message.bytes
    } else if (message.kind === 'shape') this.#shapes.add(message.number, message.shape)
    else if (message.kind === 'forget') this.#progress?.forget(message.batch)
    else if (message.kind === 'probe') this.#isProbing = true
    else if (message.kind === 'close') this.#isClosing = true
    else this.#waitingQueries.push(message)
  }

  /** Works until nothing is left: commits the batches that wait, then does one step of one query. */
  #workAll(): void {
    for (;;) {
      this.#drain()
      if (this.#batches.length > 0) this.#write()
      else if (this.#isProbing) this.#probe()
      else {
        const query = this.#waitingQueries.shift()
        if (query === undefined) return
        this.#answer(query)
      }
    }
  }

  /** Receives all messages that have arrived, without waiting for the event loop. */
  #drain(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#port)
      if (received === undefined) return
      this.#enqueue(received.message as ToWorker)
    }
  }

  #write(): void {
    // the next thread is sent everything that is not answered
    if (!this.#isSameFile())
      throw new Error(
        `The database ${this.#options.file} or its journal was removed or replaced while it was in use. What bears the name now is opened; what a removed database held is not on record any more.`,
      )
    if (performance.now() - this.#checked_at >= CLAIM_POLL_MS) this.#checkOthers()
    else this.#journal.add(this.#bytes)
    const batches = this.#batches
    this.#batches = []
    const { refusal } = this.#journal
    const outcome = refusal === undefined ? this.#group.commit(batches) : this.#group.refuse(batches, refusal)
    this.#post({ kind: 'wrote', ...outcome, applied: this.#progress?.applied ?? 0 })
    // a failure may last: check for its causes at once
    if (outcome.failed.length > 0) this.#checkOthers()
    this.#checkpoints.committed(batches.length > 1, this.#bytes)
    this.#bytes = 0
  }

  /** Finds out whether the disk has room again: writes some pages and frees them. */
  #probe(): void {
    this.#isProbing = false
    const { db } = this.#connection
    const make = () =>
      db.exec('create table guard_probe (filler blob); insert into guard_probe values (zeroblob(65536))')
    this.#checkOthers()
    const failed = this.#tryProbe(make)
    const done = failed instanceof Error ? failed : this.#group.transact(false, () => db.exec('drop table guard_probe'))
    this.#post({
      kind: 'wrote',
      done: [],
      applied: this.#progress?.applied ?? 0,
      failed: done instanceof Error ? [{ id: 0, reason: reasonOf(done), message: messageOf(done) }] : [],
    })
  }

  #tryProbe(make: () => void): unknown {
    const { refusal } = this.#journal
    if (refusal !== undefined) return Object.assign(new Error(refusal), { code: 'SQLITE_FULL' })
    return this.#group.transact(false, make)
  }

  #answer(query: WorkerQuery): void {
    try {
      const step = this.#queries.step(query)
      if (step.done) this.#post({ kind: 'answer', id: query.id, value: step.value })
      else this.#waitingQueries.push(query)
    } catch (error) {
      this.#queries.drop(query.id)
      this.#post({ kind: 'failed', id: query.id, reason: reasonOf(error), message: messageOf(error) })
    }
  }

  async #close(): Promise<void> {
    clearInterval(this.#checkTimer)
    if (this.#progress?.isUnsaved === true) this.#group.commit([])
    await this.#checkpointThread.close()
    this.#release()
    this.#connection.close()
    // later messages are for the next file
    this.#port.off('message', this.#onMessage)
    this.#post({ kind: 'closed' })
  }

  /** Gives the ownership up, so that the next process need not check whether this one still runs. */
  #release(): void {
    try {
      if (!this.#isSuperseded) this.#connection.ownership?.release()
    } catch {
      // the next process looks this one up by its id
    }
  }
}

/** One check takes as long as writing a row. */
const CHECK_MS = 1_000

const identityOf = (name: string): string => {
  const found = statSync(name, { throwIfNoEntry: false })
  return found === undefined ? 'none' : `${found.dev} ${found.ino}`
}

const identities = (file: string): string => [file, `${file}-wal`].map(identityOf).join()

/**
 * Called when a database has been opened. The returned function says whether the names of the database and its journal still lead
 * to the same files (device and inode) as then. It looks at most once per `look_ms`. Rows that are written to a removed file are lost.
 */
const watchFileIdentity = ({ file, look_ms = CHECK_MS }: Pick<OpenOptions, 'file' | 'look_ms'>): (() => boolean) => {
  const opened = identities(file)
  let checked_at = performance.now()
  return () => {
    const now = performance.now()
    if (now - checked_at < look_ms) return true
    checked_at = now
    return identities(file) === opened
  }
}

/** Statement shapes by the numbers under which they were sent, and the prepared changes of these shapes. */
class StatementShapes {
  readonly #tables: ReadonlyMap<string, Table>
  readonly #statements: Statements
  readonly #shapes = new Map<number, { readonly table: Table; readonly shape: Shape }>()
  readonly #changes = new Map<number, ReturnType<typeof prepareChange>>()

  constructor(tables: readonly Table[], statements: Statements) {
    this.#tables = new Map(tables.map((table) => [table.id, table]))
    this.#statements = statements
  }

  add(number: number, shape: Shape): void {
    const table = this.#tables.get(shape.table)
    if (table !== undefined) this.#shapes.set(number, { table, shape })
  }

  /** Throws TypeError if no shape of this number was sent. */
  shape(number: number): { readonly table: Table; readonly shape: Shape } {
    const found = this.#shapes.get(number)
    if (found === undefined) throw new TypeError(`shape ${number} was never sent`)
    return found
  }

  /** The prepared change of a shape. Throws TypeError if the shape is no change. */
  change(number: number): ReturnType<typeof prepareChange> {
    const cached = this.#changes.get(number)
    if (cached !== undefined) return cached
    const { table, shape } = this.shape(number)
    if (!isChange(shape)) throw new TypeError(`shape ${number} is no change`)
    const prepared = prepareChange(table, shape, this.#statements)
    this.#changes.set(number, prepared)
    return prepared
  }
}

/** Requests to open a database, one after another. The thread ends when this port is closed. */
const openRequests = workerData as MessagePort
const port = parentPort
if (port === null) throw new TypeError('this module runs in a worker thread')
openRequests.on('message', (options: OpenOptions) => void serveDatabase(port, options))
