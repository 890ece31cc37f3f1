import { type DriverChange, type DriverWriteOptions, GuardError } from 'guard-gateway/core'
import { SlowCommits, type State } from '../../kysely/state.ts'
import type { Connection } from '../connection/connection.ts'
import { backoff, type Pool } from '../connection/pool.ts'
import { failureKind, isFull } from '../connection/sql-errors.ts'
import { plain, type Result, type Statement } from '../connection/statement.ts'
import { Batch, overloaded, unavailable } from './batch.ts'
import type { BatchStatements } from './batch-statements.ts'
import type { CommitMarkers } from './commit-markers.ts'
import { mergedAdds } from './merged-adds.ts'
import { RowOrder } from './row-order.ts'

const MAX_BATCHES = 10_000
const MAX_BYTES = 64 * 1024 * 1024
/** A batch that other transactions were in the way of so often is refused. */
const MAX_CONFLICTS = 20
/** A batch that lost its connection so often may be what ends the connections. */
const MAX_LOSSES = 10
/** A commit that takes longer makes the storage `busy`. */
const SLOW_MS = 1_000

export interface QueueOptions {
  /** How many batches run at once. */
  readonly writers: number
  /** How long a batch that may not be held waits for a server that is away, in milliseconds. */
  readonly grace_ms: number
  readonly describe: (error: unknown) => string
}

/** The batches that are not answered yet. Each runs on a connection of its own, after those before it that touch the same rows. */
export class WriteQueue {
  readonly #pool: Pool
  readonly #state: State
  readonly #markers: CommitMarkers
  readonly #statements: BatchStatements
  readonly #options: QueueOptions
  readonly #slow: SlowCommits
  readonly #order = new RowOrder()
  /** Those that may run. */
  #ready: Batch[] = []
  readonly #running = new Set<Batch>()
  readonly #all = new Set<Batch>()
  #bytes = 0
  #writers = 0
  #onIdle: (() => void)[] = []
  #isClosing = false

  constructor(pool: Pool, state: State, markers: CommitMarkers, statements: BatchStatements, options: QueueOptions) {
    this.#pool = pool
    this.#state = state
    this.#markers = markers
    this.#statements = statements
    this.#options = options
    this.#slow = new SlowCommits(state, SLOW_MS, () => this.#running.size > 0)
  }

  /** Adds a batch. Rejects with OVERLOADED if the queue is full. */
  add(changes: readonly DriverChange[], { hold, sync }: DriverWriteOptions): Promise<boolean> {
    if (this.#isClosing) return Promise.reject(unavailable('the gateway is closing'))
    if (!hold && this.#pool.down !== undefined && this.#state.now === 'failing')
      return Promise.reject(unavailable(this.#options.describe(this.#pool.down)))
    if (this.#all.size >= MAX_BATCHES) return Promise.reject(overloaded())
    const statements = this.#statements.of(changes)
    return new Promise((resolve, reject) => {
      const batch = new Batch(changes, statements, { resolve, reject, hold, sync })
      if (this.#bytes + batch.bytes > MAX_BYTES) reject(overloaded())
      else this.#enter(batch)
    })
  }

  #enter(batch: Batch): void {
    this.#all.add(batch)
    this.#bytes += batch.bytes
    if (this.#order.add(batch)) this.#run(batch)
  }

  /** The server is away: refuses the batches that may not be held and have waited long enough. */
  refuseLate(error: unknown): void {
    const before = performance.now() - this.#options.grace_ms
    this.#refuse(error, ({ waiter, since }) => !waiter.hold && since <= before)
  }

  /** Resolves when everything is written. If the server is away, held batches are refused after the grace time. */
  async end(): Promise<void> {
    this.#isClosing = true
    if (this.#all.size > 0) {
      const refuse = () => this.#refuse(new Error('the gateway is closing'), () => true)
      const timer = setTimeout(refuse, this.#options.grace_ms)
      await new Promise<void>((resolve) => this.#onIdle.push(resolve))
      clearTimeout(timer)
    }
    this.#slow.stop()
  }

  #run(batch: Batch): void {
    if (batch.isAnswered) this.#done(batch)
    else this.#ready.push(batch)
    if (this.#ready.length === 0 || this.#writers >= this.#options.writers) return
    this.#writers++
    void this.#write()
  }

  /** Takes a connection and runs batches on it while there are some. */
  async #write(): Promise<void> {
    while (this.#ready.length > 0) {
      const connection = await this.#pool.acquire(Number.POSITIVE_INFINITY).catch(() => undefined)
      if (connection === undefined) break
      do await this.#attempt(connection, takeGroup(this.#ready, this.#options.writers))
      while (this.#ready.length > 0 && !connection.isBroken && !this.#pool.isAwaited)
      this.#pool.release(connection)
    }
    this.#writers--
  }

  async #attempt(connection: Connection, group: readonly Batch[]): Promise<void> {
    const [batch] = group
    if (this.#running.size === 0) this.#slow.begin(performance.now())
    for (const one of group) this.#running.add(one)
    if (batch?.uncertain === undefined) await this.#transact(connection, group)
    else await this.#findOut(connection, batch, batch.uncertain)
    for (const one of group) this.#running.delete(one)
    if (this.#running.size > 0) this.#slow.begin(performance.now())
  }

  /** Writes batches in one transaction. If that fails, each gets one of its own. */
  async #transact(connection: Connection, group: readonly Batch[]): Promise<void> {
    const { number, written, error } = await runGroup(connection, group, this.#markers)
    const isOver = group.length > 1 && failureKind(error) !== 'lost'
    for (const [at, batch] of group.entries()) {
      if (written !== undefined) this.#settle(batch, written[at] === true)
      else if (isOver) this.#separate(batch)
      else this.#failed(connection, batch, number, error)
      if (number !== undefined && batch.uncertain === undefined) this.#markers.end(number)
    }
  }

  #separate(batch: Batch): void {
    batch.isAlone = true
    this.#ready.unshift(batch)
  }

  /** If it was not committed, it cannot be any more, and begins anew. */
  async #findOut(connection: Connection, batch: Batch, number: number): Promise<void> {
    try {
      const wasCommitted = await this.#markers.wasCommitted(connection, number)
      batch.uncertain = undefined
      this.#markers.end(number)
      if (wasCommitted) this.#settle(batch, true)
      else this.#ready.unshift(batch)
    } catch (error) {
      this.#failed(connection, batch, number, error)
    }
  }

  #failed(connection: Connection, batch: Batch, number: number | undefined, error: unknown): void {
    switch (failureKind(error)) {
      case 'refused':
        this.#settle(batch, false)
        break
      case 'lost':
        this.#lost(connection, batch, number, error)
        break
      case 'stale':
        this.#lost(connection, batch, undefined, error)
        break
      case 'full':
      case 'unavailable':
        this.#unwritable(connection, batch, error)
        break
      case 'conflict':
        this.#repeat(batch, MAX_CONFLICTS, error)
        break
      case 'timeout':
        this.#repeat(batch, batch.uncertain === undefined ? 0 : MAX_LOSSES, error)
        break
      case 'wrong':
        this.#reject(batch, wrongBatch(this.#options.describe(error)))
    }
  }

  /** Another transaction was in the way. */
  #repeat(batch: Batch, most: number, error: unknown): void {
    if (batch.conflicts++ < most || batch.waiter.hold) this.#later(batch, backoff(Math.min(batch.conflicts, 4)) / 10)
    else this.#reject(batch, new GuardError('STORAGE_BUSY', undefined, { cause: error }))
  }

  /** `uncertain`: the transaction of this number may have been committed. */
  #lost(connection: Connection, batch: Batch, uncertain: number | undefined, error: unknown): void {
    connection.destroy()
    batch.uncertain = uncertain
    if (++batch.losses > MAX_LOSSES) this.#reject(batch, unavailable(this.#options.describe(error)))
    else this.#ready.unshift(batch)
  }

  /** The disk is full, or the server writes nothing: what may be held is tried again. */
  #unwritable(connection: Connection, batch: Batch, error: unknown): void {
    this.#state.set(isFull(error) ? 'full' : 'failing')
    if (!isFull(error)) connection.destroy()
    if (batch.waiter.hold && !this.#isClosing) this.#later(batch, backoff(++batch.conflicts))
    else
      this.#reject(batch, isFull(error) ? new GuardError('STORAGE_FULL') : unavailable(this.#options.describe(error)))
  }

  #later(batch: Batch, delay_ms: number): void {
    setTimeout(() => this.#run(batch), delay_ms)
  }

  /** Refuses batches that do not run. One that waits for others is answered, and keeps its place until its turn. */
  #refuse(error: unknown, isMeant: (batch: Batch) => boolean): void {
    const ready = new Set(this.#ready)
    for (const batch of [...this.#all]) {
      if (this.#running.has(batch) || batch.isAnswered || !isMeant(batch)) continue
      const unknown = batch.uncertain === undefined ? '' : '; whether this batch was written is not known'
      batch.reject(unavailable(`${this.#options.describe(error)}${unknown}`))
      if (ready.delete(batch)) this.#done(batch)
    }
    this.#ready = this.#ready.filter((batch) => !batch.isAnswered)
  }

  #reject(batch: Batch, error: Error): void {
    batch.reject(error)
    this.#done(batch)
  }

  #settle(batch: Batch, written: boolean): void {
    this.#state.set('ok')
    batch.resolve(written)
    this.#done(batch)
  }

  #done(batch: Batch): void {
    if (batch.uncertain !== undefined) this.#markers.end(batch.uncertain)
    this.#all.delete(batch)
    this.#bytes -= batch.bytes
    for (const next of this.#order.done(batch)) this.#run(next as Batch)
    if (this.#all.size > 0) return
    for (const resolve of this.#onIdle) resolve()
    this.#onIdle = []
  }
}

const wrongBatch = (message: string): TypeError => new TypeError(`The batch cannot be written: ${message}`)

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
interface GroupResult {
  readonly number: number | undefined
  readonly written?: readonly boolean[]
  readonly error?: unknown
}

/** Runs batches as one transaction, in one round trip. */
const runGroup = async (
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
