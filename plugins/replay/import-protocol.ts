import type { Code, ErrorBody, ImportWarning } from 'guard-gateway/core'
import type { FoundRun, Slice } from './import-file.ts'

/** What the thread that reads a file is started with. */
export interface ReadStart {
  readonly bytes: ArrayBuffer
  /** The formats to try, in this order: their ids, and the modules that export them. */
  readonly formats: readonly { readonly id: string; readonly module: string }[]
}

/** Asks for the next records. */
export type ToReader = 'next'

/** What the thread answers: once what the file holds, or why it is refused; then a slice for each question, and the end. */
export type FromReader =
  | { readonly kind: 'found'; readonly warnings: readonly ImportWarning[]; readonly runs: readonly FoundRun[] }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly code: Code; readonly message: string; readonly place: RefusedPlace }
  | { readonly kind: 'slice'; readonly slice: Slice }
  | { readonly kind: 'end' }

/** Where in the file something is wrong. */
export type RefusedPlace = Pick<ErrorBody, 'path' | 'line' | 'column' | 'known'>
