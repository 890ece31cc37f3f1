import type { Code, Position, Table } from 'guard-gateway/core'
import type { Shape, SqlValue } from '../kysely/shape.ts'
import type { Place } from './ahead/place.ts'

/** What the worker is started with. */
export interface Start {
  readonly file: string
  readonly tables: readonly Table[]
  readonly synchronous: 'normal' | 'full'
  /** Refuse to open while another gateway holds the file. */
  readonly exclusive: boolean
  /** The thread takes the place of one that died with the database of this name, and is sent again what that one had not answered. */
  readonly resumes?: string | undefined
  /** Milliseconds that SQLite waits for another program's lock. */
  readonly busy_ms: number
  /** Pages the file may have; 0: as many as SQLite allows. */
  readonly max_pages: number
  /** Length of the journal from which on nothing is written; 0 or absent: as long as the disk lets it. */
  readonly max_journal_bytes?: number
  /** Files up to this size are read through before they are opened for writing, larger ones behind it; 64 MiB if absent. */
  readonly checked_bytes?: number
  /** Milliseconds between two looks whether the file still bears its name; a second if absent. */
  readonly look_ms?: number
}

/** One batch, flat: id, 1 if it must be synced, then for each change the number of its shape and its values. */
export type BatchValues = (SqlValue | number)[]

/** A question that has one answer of its own. */
export type Ask =
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
  /** `by`: how many columns the rows are grouped by. */
  | {
      readonly kind: 'sum'
      readonly id: number
      readonly shape: number
      readonly values: readonly SqlValue[]
      readonly by: number
    }
  | { readonly kind: 'bytes'; readonly id: number }
  /** Bits of a filter that has the first key column of all rows. */
  | { readonly kind: 'keys'; readonly id: number; readonly shape: number }

export type ToWorker =
  | { readonly kind: 'shape'; readonly number: number; readonly shape: Shape }
  /** Batches, or the JSON text of a list of them. `bytes`: size of all values, about. */
  | { readonly kind: 'write'; readonly parts: readonly (string | readonly BatchValues[])[]; readonly bytes: number }
  /** A batch that failed or was refused does not come again, and what is written in its place is safe. */
  | { readonly kind: 'forget'; readonly batch: number }
  | { readonly kind: 'probe' }
  | { readonly kind: 'close' }
  | Ask

/** A place in an order as SQL has it; int64 as text. */
export interface RawPosition {
  readonly value: SqlValue
  readonly recorded: Position['recorded']
}

/** Rows as lists of values, in the order of the table's stored columns; behind them order value and `recorded`. */
export interface RawPage {
  readonly rows: readonly (readonly SqlValue[])[]
  readonly next: RawPosition | null
  readonly truncated: boolean
}

/** Why a batch was not written: the disk is full, the database cannot be written now, or the batch itself is at fault. */
export interface Failure {
  readonly id: number
  readonly reason: 'full' | 'failing' | 'fault'
  readonly message: string
}

export type FromWorker =
  | { readonly kind: 'open'; readonly place: Place | undefined }
  | { readonly kind: 'warning'; readonly message: string }
  /** Another process has taken the database; nothing is written any more. */
  | { readonly kind: 'superseded'; readonly message: string }
  /** Length of the journal, told when it has changed by much. */
  | { readonly kind: 'journal'; readonly bytes: number }
  | { readonly kind: 'refused'; readonly code: Code; readonly message: string }
  /** `done` is flat: id, 1 for written or 0 for a failed condition. `applied`: all batches up to this number are answered for good. */
  | {
      readonly kind: 'wrote'
      readonly done: readonly number[]
      readonly failed: readonly Failure[]
      readonly applied: number
    }
  | {
      readonly kind: 'answer'
      readonly id: number
      readonly value: RawPage | readonly SqlValue[] | readonly (readonly SqlValue[])[] | Uint8Array | number | undefined
    }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: Failure['reason']; readonly message: string }
  | { readonly kind: 'closed' }

/** Where a row of a page stands. */
export const rawEnd = (row: readonly SqlValue[]): RawPosition => ({
  value: row.at(-2) ?? null,
  recorded: Number(row.at(-1)),
})
