import type { Code, ErrorBody } from 'guard-gateway/core'
import type { ImportedRecord, ImportedRun, ImportWarning } from 'guard-gateway/lib/export-format'

/** What the thread that reads a file is started with. */
export interface ReadStart {
  /** Of the file, which this process holds open. */
  readonly descriptor: number
  /** The formats to try, in this order: their ids, and the modules that export them. */
  readonly formats: readonly { readonly id: string; readonly module: string }[]
}

/** Asks for the next records. */
export type ToReader = 'next'

/** What the thread answers: once what the file holds, or why it is refused; then records for each question, and in the end the digests of the runs. */
export type FromReader =
  | { readonly kind: 'found'; readonly warnings: readonly ImportWarning[]; readonly runs: readonly ImportedRun[] }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly code: Code; readonly message: string; readonly place: RefusedPlace }
  | { readonly kind: 'slice'; readonly records: readonly ImportedRecord[] }
  | { readonly kind: 'end'; readonly digests: readonly string[] }

/** Where in the file something is wrong. */
export type RefusedPlace = Pick<ErrorBody, 'path' | 'line' | 'column' | 'known'>
