import type { Driver, DriverContext, Position, Table } from 'guard-gateway/core'
import type { SqlValue } from '../kysely/shape.ts'
import { fromSql, toSql } from '../kysely/values.ts'
import { AheadLog } from './ahead/log.ts'
import type { Place } from './ahead/place.ts'
import { checkBehind } from './check/behind.ts'
import { Encoder } from './encoding/encode.ts'
import { isLarge } from './file/file.ts'
import { KnownKeys } from './keys/known.ts'
import { Link } from './link.ts'
import { Notes } from './notes.ts'
import { type BatchValues, type FromWorker, type RawPage, type RawPosition, rawEnd, type Start } from './protocol.ts'
import { Questions } from './questions.ts'
import { State } from './state.ts'
import type { Delays } from './writes/ways.ts'
import { Writes } from './writes/writes.ts'

/** How a file is opened; times in milliseconds. */
export type DriverOptions = Omit<Start, 'tables'> & Delays

const columnOf = (table: Table, column: string) => table.columns[column] ?? 'integer'

const rawPosition = (table: Table, column: string, { value, recorded }: Position): RawPosition => ({
  recorded,
  value: toSql(columnOf(table, column), value),
})

const position = (table: Table, column: string, { value, recorded }: RawPosition): Position => ({
  recorded,
  value: column === 'recorded' ? null : (fromSql(columnOf(table, column), value) as Position['value']),
})

/** Damage that is found while the file is in use: nothing more is written to it. */
const checked = (state: State, fault: DriverContext['fault']): Parameters<typeof checkBehind>[1] => ({
  onDamage: (error) => {
    state.fail()
    fault(error, 'storage:check')
  },
  onFault: (error) => fault(error, 'storage:check'),
})

const removedNote = (file: string): string =>
  `The database ${file} was removed or replaced while it was in use, at ${new Date().toISOString()}: history before that time was removed with it, unless a backup took its place. This is said until the next start.`

/** Opens the file in a worker thread of its own and speaks to it. */
export const openDriver = async (
  tables: readonly Table[],
  { fault }: DriverContext,
  { slow_ms, retry_ms, ...start }: DriverOptions,
): Promise<Driver> => {
  const state = new State()
  const notes = new Notes(start.max_journal_bytes)
  const faulty = (error: unknown): void => fault(error, 'storage:sqlite')
  const onMessage = (message: FromWorker): void => {
    if (message.kind === 'wrote') writes.answered(message)
    else if (message.kind === 'answer') questions.answered(message.id, message.value)
    else if (message.kind === 'failed') questions.failed(message)
    else if (message.kind === 'journal') notes.journal_bytes = message.bytes
    else if (message.kind === 'superseded') superseded(message.message)
  }
  const link = new Link(
    { ...start, tables },
    {
      onMessage,
      onReplaced: (place, before) => {
        beginLog(place)
        encoder.announceAll()
        // of another file nobody knows what is there, nor which of the keys that wait are
        if (place?.database !== before?.database) {
          keys.end()
          if (before !== undefined) notes.add(removedNote(start.file))
        }
        writes.resend()
        questions.resend()
      },
      onFailing: (message) => {
        writes.unavailable(message)
        questions.unavailable(message)
      },
      fault: faulty,
    },
  )
  const post = link.post.bind(link)
  const encoder = new Encoder(tables, (number, shape) => post({ kind: 'shape', number, shape }))
  const log = new AheadLog(start.file, encoder.shapes, faulty)
  const writes = new Writes({ post, log, fault: faulty }, state, { slow_ms, retry_ms })
  const questions = new Questions((ask) => {
    writes.hurry()
    post(ask)
  })
  const beginLog = (place: Place | undefined): void => {
    // what a power cut must not take waits for its commit
    if (place === undefined || start.synchronous === 'full') return
    log.begin(place.database)
  }
  const superseded = (message: string): void => {
    notes.add(message)
    state.fail()
    log.leave()
    fault(new Error(message), 'storage:sqlite')
  }
  const keys = new KnownKeys()
  /** Where others write to the file as well, nobody knows what is there. */
  const beginKeys = (): void => {
    if (start.exclusive)
      keys.begin(
        tables,
        async (table) => (await questions.ask({ kind: 'keys', shape: encoder.get(table) })) as Uint8Array,
      )
  }
  beginLog(await link.open())
  beginKeys()
  const endCheck = start.exclusive && isLarge(start) ? checkBehind(start.file, checked(state, fault)) : undefined

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
      if (!keys.mayHave(table, key)) return undefined
      const values = (await questions.ask({ kind: 'get', shape: encoder.get(table), values: key })) as
        | readonly SqlValue[]
        | undefined
      return values && encoder.row(table, values)
    },
    async find(table, query) {
      const values: SqlValue[] = []
      const shape = encoder.find(table, query, values)
      const [column] = query.order
      const after = query.after && rawPosition(table, column, query.after)
      const page = (await questions.ask({ kind: 'find', shape, values, after, limit: query.limit })) as RawPage
      return {
        rows: page.rows.map((row) => encoder.row(table, row)),
        positions: page.rows.map((row) => position(table, column, rawEnd(row))),
        next: page.next && position(table, column, page.next),
        truncated: page.truncated,
      }
    },
    async sum(table, asked) {
      const values: SqlValue[] = []
      const shape = encoder.sum(table, asked, values)
      const groups = await questions.ask({ kind: 'sum', shape, values, by: asked.by.length })
      return (groups as readonly (readonly SqlValue[])[]).map((group) => encoder.group(table, asked, group))
    },
    write(batch, options) {
      const values: BatchValues = [0, options.sync ? 1 : 0]
      let bytes = 0
      for (const change of batch) {
        if (change.kind === 'put') keys.added(change.table, change.row)
        bytes += encoder.change(change, values)
      }
      return writes.add(values, bytes, options)
    },
    flush: () => writes.flush(),
    async remove(table, where, limit) {
      const values: SqlValue[] = []
      const shape = encoder.prune(table, where, values)
      return Number(await questions.ask({ kind: 'prune', shape, values, limit }))
    },
    bytes: async () => Number(await questions.ask({ kind: 'bytes' })),
    async close() {
      endCheck?.()
      await writes.end()
      await link.close()
      log.end(writes.committed)
    },
  }
}
