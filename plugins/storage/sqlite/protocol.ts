import type { Position, Table } from 'guard-gateway/core'
import type { Shape, SqlValue } from '../kysely/shape.ts'
import type { RefusalCode } from './file/refusal.ts'

/** How far a database has come: the last batch that it holds of the process that has it open. */
export interface LogPosition {
  /** A name that is new for each process, so that no log of an earlier process is mistaken for a current one. */
  readonly database: string
  /** All batches up to this number are written, apart from the pending ones. */
  readonly applied: number
  /** Numbers up to `applied` whose batches are not written. */
  readonly pending: ReadonlySet<number>
}

/** How a worker opens a database file. */
export interface OpenOptions {
  readonly file: string
  readonly tables: readonly Table[]
  readonly synchronous: 'normal' | 'full'
  /** Refuse to open while another gateway holds the file. */
  readonly exclusive: boolean
  /** The worker replaces one that died while it had the database under this name. It is sent everything again that the dead one did not answer. */
  readonly resumes?: string | undefined
  /** Milliseconds that SQLite waits for another program's lock. */
  readonly busy_ms: number
  /** The maximum number of pages of the file; 0: the limit of SQLite. */
  readonly max_pages: number
  /** No batch is written while the journal has more bytes than this; 0 or absent: only the disk limits it. */
  readonly max_journal_bytes?: number
  /** Files up to this size are checked completely before they are opened for writing, larger ones in the background while they are in use. 64 MiB if absent. */
  readonly checked_bytes?: number
  /** Milliseconds between two checks that the file was not removed or replaced; 1,000 if absent. */
  readonly look_ms?: number
}

/** One batch as a flat list: its id, 1 if it must be synced, then for each change the number of its shape and its values. */
export type BatchValues = (SqlValue | number)[]

/** A query to the worker. Each has exactly one answer. */
export type WorkerQuery =
  | { readonly kind: 'get'; readonly id: number; readonly shape: number; readonly values: readonly SqlValue[] }
  | {
      readonly kind: 'find'
      readonly id: number
      readonly shape: number
      readonly values: readonly SqlValue[]
      readonly after: RawPosition | null
      readonly limit: number
    }
  | {
      readonly kind: 'prune'
      readonly id: number
      readonly shape: number
      readonly values: readonly SqlValue[]
      readonly limit: number
    }
  /** `by`: the number of columns that the rows are grouped by. */
  | {
      readonly kind: 'sum'
      readonly id: number
      readonly shape: number
      readonly values: readonly SqlValue[]
      readonly by: number
    }
  | { readonly kind: 'bytes'; readonly id: number }

export type ToWorker =
  | { readonly kind: 'shape'; readonly number: number; readonly shape: Shape }
  /** Batches, or the JSON text of a list of them. `bytes`: the size of all values, about. */
  | { readonly kind: 'write'; readonly parts: readonly (string | readonly BatchValues[])[]; readonly bytes: number }
  /** A batch that failed or was refused will not be sent again, and its caller has handled that. */
  | { readonly kind: 'forget'; readonly batch: number }
  | { readonly kind: 'probe' }
  | { readonly kind: 'close' }
  | WorkerQuery

/** A position in an order, with SQL values; an int64 is text. */
export interface RawPosition {
  readonly value: SqlValue
  readonly recorded: Position['recorded']
}

/** Rows as lists of values: the table's stored columns, then the value of the order column and `recorded`. */
export interface RawPage {
  readonly rows: readonly (readonly SqlValue[])[]
  readonly next: RawPosition | null
  readonly truncated: boolean
}

/** Why a batch was not written. `full`: the disk is full. `failing`: the database cannot be written now. `fault`: the batch itself is invalid. */
export interface Failure {
  readonly id: number
  readonly reason: 'full' | 'failing' | 'fault'
  readonly message: string
}

export type FromWorker =
  | { readonly kind: 'open'; readonly position: LogPosition | undefined }
  | { readonly kind: 'warning'; readonly message: string }
  /** Another process has taken over the database; this one writes no more. */
  | { readonly kind: 'superseded'; readonly message: string }
  /** The size of the journal, sent when it has changed by 1 MiB. */
  | { readonly kind: 'journal'; readonly bytes: number }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string }
  /** `done` is flat: id, then 1 for written or 0 for a failed condition. `applied`: all batches up to this number are finished. */
  | {
      readonly kind: 'wrote'
      readonly done: readonly number[]
      readonly failed: readonly Failure[]
      readonly applied: number
    }
  | {
      readonly kind: 'answer'
      readonly id: number
      readonly value: RawPage | readonly SqlValue[] | readonly (readonly SqlValue[])[] | number | undefined
    }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: Failure['reason']; readonly message: string }
  | { readonly kind: 'closed' }

/** The position of a row of a page. */
export const rawEnd = (row: readonly SqlValue[]): RawPosition => ({
  value: row.at(-2) ?? null,
  recorded: Number(row.at(-1)),
})
