import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import {
  type Driver,
  type DriverContext,
  GuardError,
  type Position,
  type RowTokens,
  type Table,
} from 'guard-gateway/core'
import { databaseErrors } from '#lib/errors'
import { bytesText } from '#lib/format'
import { wordsTable } from '../kysely/schema.ts'
import type { SqlValue } from '../kysely/shape.ts'
import { State } from '../kysely/state.ts'
import { fromSql, toSql } from '../kysely/values.ts'
import { Encoder } from './encoder.ts'
import { isLarge } from './file/file.ts'
import type { LogPosition } from './protocol.ts'
import {
  type BatchValues,
  type FromWorker,
  type OpenOptions,
  type RawPage,
  type RawPosition,
  rawEnd,
  type ToWorker,
  type WorkerQuery,
} from './protocol.ts'
import { RedoLog } from './redo-log/redo-log.ts'
import { WorkerSupervisor } from './worker-supervisor.ts'
import type { WriteDelays } from './writes/write-dependencies.ts'
import { WriteQueue } from './writes/write-queue.ts'

/** How a file is opened. Times are milliseconds. */
export type DriverOptions = Omit<OpenOptions, 'tables'> & WriteDelays

const columnOf = (table: Table, column: string) => table.columns[column] ?? 'integer'

const rawPosition = (table: Table, column: string, { value, recorded }: Position): RawPosition => ({
  recorded,
  value: toSql(columnOf(table, column), value),
})

const positionOf = (table: Table, column: string, { value, recorded }: RawPosition): Position => ({
  recorded,
  value: column === 'recorded' ? null : (fromSql(columnOf(table, column), value) as Position['value']),
})

/** The events of the background check. After damage was found nothing more is written to the file. */
const checkEvents = (state: State, fault: DriverContext['fault']): Parameters<typeof checkInBackground>[1] => ({
  onDamage: (error) => {
    state.fail()
    fault(error, 'storage:check')
  },
  onFault: (error) => fault(error, 'storage:check'),
})

const removedNote = (file: string): string =>
  `The database ${file} was removed or replaced while it was in use, at ${new Date().toISOString()}: history before that time was removed with it, unless a backup took its place. This is said until the next start.`

/** Opens the file in a worker thread. The driver exchanges messages with it. */
export const openDriver = async (
  tables: readonly Table[],
  { fault }: DriverContext,
  { slow_ms, retry_ms, ...options }: DriverOptions,
): Promise<Driver> => {
  const state = new State()
  const notes = new Notes(options.max_journal_bytes)
  const reportFault = (error: unknown): void => fault(error, 'storage:sqlite')
  const onMessage = (message: FromWorker): void => {
    if (message.kind === 'wrote') writes.answered(message)
    else if (message.kind === 'answer') queries.answered(message.id, message.value)
    else if (message.kind === 'failed') queries.failed(message)
    else if (message.kind === 'journal') notes.journal_bytes = message.bytes
    else if (message.kind === 'superseded') superseded(message.message)
  }
  const supervisor = new WorkerSupervisor(
    { ...options, tables },
    {
      onMessage,
      onReplaced: (position, before) => {
        beginLog(position)
        encoder.announceAll()
        if (before !== undefined && position?.database !== before.database) notes.add(removedNote(options.file))
        writes.resend()
        queries.resend()
      },
      onFailing: (message) => {
        writes.unavailable(message)
        queries.unavailable(message)
      },
      fault: reportFault,
    },
  )
  const post = supervisor.post.bind(supervisor)
  const encoder = new Encoder(tables, (number, shape) => post({ kind: 'shape', number, shape }))
  const log = new RedoLog(options.file, encoder.shapes, reportFault)
  const writes = new WriteQueue({ post, log, fault: reportFault }, state, { slow_ms, retry_ms })
  const queries = new PendingQueries((query) => {
    writes.sendAnswered()
    post(query)
  })
  const beginLog = (position: LogPosition | undefined): void => {
    // a log does not survive a power cut, so `full` waits for every commit
    if (position === undefined || options.synchronous === 'full') return
    log.begin(position.database)
  }
  const superseded = (message: string): void => {
    notes.add(message)
    state.fail()
    log.abandon()
    fault(new Error(message), 'storage:sqlite')
  }
  beginLog(await supervisor.open())
  const stopCheck =
    options.exclusive && isLarge(options) ? checkInBackground(options.file, checkEvents(state, fault)) : undefined

  return {
    capabilities: { search: 'tokens', shared: false },
    get state() {
      return state.now
    },
    onState: (listener) => state.listen(listener),
    get notes() {
      return notes.all
    },
    get journal_bytes() {
      return notes.journal_bytes
    },
    async get(table, key) {
      const values = (await queries.send({ kind: 'get', shape: encoder.get(table), values: key })) as
        | readonly SqlValue[]
        | undefined
      return values && encoder.row(table, values)
    },
    async find(table, query) {
      const values: SqlValue[] = []
      const shape = encoder.find(table, query, values)
      const [column] = query.order
      const after = query.after && rawPosition(table, column, query.after)
      const page = (await queries.send({ kind: 'find', shape, values, after, limit: query.limit })) as RawPage
      return {
        rows: page.rows.map((row) => encoder.row(table, row)),
        positions: page.rows.map((row) => positionOf(table, column, rawEnd(row))),
        next: page.next && positionOf(table, column, page.next),
        truncated: page.truncated,
      }
    },
    async sum(table, query) {
      const values: SqlValue[] = []
      const shape = encoder.sum(table, query, values)
      const groups = await queries.send({ kind: 'sum', shape, values, by: query.by.length })
      return (groups as readonly (readonly SqlValue[])[]).map((group) => encoder.group(table, query, group))
    },
    write(batch, writeOptions) {
      const values: BatchValues = [0, writeOptions.sync ? 1 : 0]
      let bytes = 0
      for (const change of batch) bytes += encoder.change(change, values)
      return writes.add(values, bytes, writeOptions)
    },
    flush: () => writes.flush(),
    async remove(table, where, limit) {
      const values: SqlValue[] = []
      const shape = encoder.prune(table, where, values)
      return Number(await queries.send({ kind: 'prune', shape, values, limit }))
    },
    bytes: async () => Number(await queries.send({ kind: 'bytes' })),
    ...readBack(options.file),
    async close() {
      stopCheck?.()
      await writes.end()
      await supervisor.close()
      log.close(writes.committed)
    },
  }
}

/** Checks a whole file in a separate thread while it is in use, and reports damage. The returned function ends the check. */
const checkInBackground = (
  file: string,
  events: { onDamage(error: GuardError): void; onFault(error: unknown): void },
): (() => void) => {
  const worker = new Worker(new URL(`./check/worker${extname(import.meta.filename)}`, import.meta.url), {
    workerData: file,
    name: 'guard-check',
  })
  worker.unref()
  worker.on('message', (fault: string | undefined) => {
    if (fault === undefined) return
    const message = `The database ${file} is damaged (${fault}). Stop the gateway, then restore a backup or move the file away.`
    events.onDamage(new GuardError(databaseErrors.DATABASE_DAMAGED, message))
  })
  worker.on('error', events.onFault)
  return () => void worker.terminate()
}

/** A journal of so many bytes or more gets a note. */
const WARN_BYTES = 256 * 1024 * 1024

/** The notes of the storage in the health report: what an operator must know beside its state. */
export class Notes {
  readonly #permanent = new Set<string>()
  readonly #warn_bytes: number
  /** Size of the journal in bytes; 0 until the worker has reported it. */
  journal_bytes = 0

  /** `max_journal_bytes`: nothing is written while the journal is larger; 0: no limit. */
  constructor(max_journal_bytes = 0) {
    this.#warn_bytes = max_journal_bytes === 0 ? WARN_BYTES : Math.min(max_journal_bytes, WARN_BYTES)
  }

  /** Adds a note that stays until the process ends. */
  add(note: string): void {
    this.#permanent.add(note)
  }

  get all(): readonly string[] {
    if (this.journal_bytes < this.#warn_bytes) return [...this.#permanent]
    return [
      ...this.#permanent,
      `The journal of the database has ${bytesText(this.journal_bytes)}: another program (an sqlite3 shell, a backup) reads the database in one long transaction, and until that ends the journal grows. End it; what is open shows: lsof <file>-wal. It is cut back by itself then.`,
    ]
  }
}

/** Tables of the storage itself and of SQLite, and those that the full-text index consists of. */
const OWN = /^(?:guard|sqlite)_|__words(?:_(?:data|idx|docsize|config|content))?$/

/** What only copies read, on a read-only connection of its own: the names of all tables, and the tokens of rows. */
const readBack = (file: string): Required<Pick<Driver, 'tokens' | 'storedTables'>> => ({
  async *tokens({ id }, after) {
    const db = await openReadonly(file)
    try {
      // the full-text index has no text: its vocabulary lists the rows of each token, and sorting turns that round
      db.exec(`create virtual table temp.vocabulary using fts5vocab(main, '${wordsTable(id)}', 'instance')`)
      const rows = db.prepare(
        `select doc as recorded, group_concat(term, ' ') as words from temp.vocabulary where doc > ? group by doc`,
      )
      for (const { recorded, words } of rows.iterate(after) as Iterable<{ recorded: number; words: string }>)
        yield { recorded, tokens: words.split(' ') } satisfies RowTokens
    } finally {
      db.close()
    }
  },
  async storedTables() {
    const db = await openReadonly(file)
    try {
      const names = db.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all() as string[]
      return names.filter((name) => !OWN.test(name))
    } finally {
      db.close()
    }
  },
})

const openReadonly = async (file: string): Promise<Database> => {
  const { default: Sqlite } = await import('better-sqlite3')
  return new Sqlite(file, { readonly: true })
}

type Answer = Extract<FromWorker, { readonly kind: 'answer' }>['value']
type WithoutId = WorkerQuery extends infer A ? (A extends WorkerQuery ? Omit<A, 'id'> : never) : never

interface PendingQuery {
  readonly message: WorkerQuery
  readonly resolve: (value: Answer) => void
  readonly reject: (error: Error) => void
}

/** Queries that wait for their answers. Each is kept until then, so that it can be sent to a new worker. */
class PendingQueries {
  readonly #post: (message: ToWorker) => void
  readonly #pending = new Map<number, PendingQuery>()
  #id = 0

  constructor(post: (message: ToWorker) => void) {
    this.#post = post
  }

  /** Sends a query and resolves with its answer. Throws TypeError for an invalid query, STORAGE_FULL and STORAGE_UNAVAILABLE. */
  send(query: WithoutId): Promise<Answer> {
    const message = { ...query, id: ++this.#id } as WorkerQuery
    return new Promise((resolve, reject) => {
      this.#pending.set(message.id, { message, resolve, reject })
      this.#post(message)
    })
  }

  answered(id: number, value: Answer): void {
    const query = this.#pending.get(id)
    this.#pending.delete(id)
    query?.resolve(value)
  }

  failed({ id, reason, message }: Extract<FromWorker, { readonly kind: 'failed' }>): void {
    const query = this.#pending.get(id)
    this.#pending.delete(id)
    const code = reason === 'full' ? 'STORAGE_FULL' : 'STORAGE_UNAVAILABLE'
    query?.reject(
      reason === 'fault'
        ? new TypeError(`The query cannot be answered: ${message}`)
        : new GuardError(code, `The database does not answer: ${message}.`),
    )
  }

  /** Sends all pending queries again, after the worker was replaced. */
  resend(): void {
    for (const { message } of this.#pending.values()) this.#post(message)
  }

  /** Fails all pending queries: the worker does not start. */
  unavailable(message: string): void {
    for (const id of [...this.#pending.keys()]) this.failed({ kind: 'failed', id, reason: 'failing', message })
  }
}
