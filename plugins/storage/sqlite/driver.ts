import type { Driver, DriverContext, Position, Table } from 'guard-gateway/core'
import type { SqlValue } from '../kysely/shape.ts'
import { fromSql, toSql } from '../kysely/values.ts'
import { checkInBackground } from './check/background-check.ts'
import { Encoder } from './encoding/encoder.ts'
import { isLarge } from './file/file.ts'
import { Notes } from './notes.ts'
import { PendingQueries } from './pending-queries.ts'
import {
  type BatchValues,
  type FromWorker,
  type OpenOptions,
  type RawPage,
  type RawPosition,
  rawEnd,
} from './protocol.ts'
import { readBack } from './read-back.ts'
import type { LogPosition } from './redo-log/log-position.ts'
import { RedoLog } from './redo-log/redo-log.ts'
import { State } from './state.ts'
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
    async sum(table, asked) {
      const values: SqlValue[] = []
      const shape = encoder.sum(table, asked, values)
      const groups = await queries.send({ kind: 'sum', shape, values, by: asked.by.length })
      return (groups as readonly (readonly SqlValue[])[]).map((group) => encoder.group(table, asked, group))
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
