import type { Code, ErrorBody } from 'guard-gateway/core'
import type { ImportContext, ImportedRecord, ImportedRun, ImportWarning } from '#lib/export-format'
import { argumentHash } from '#lib/trace'

/** Start message of the reader thread. */
export interface ReadStart {
  /** Descriptor of the file, open in this process. */
  readonly descriptor: number
  /** Formats to try in order: ids and modules. */
  readonly formats: readonly { readonly id: string; readonly module: string }[]
  /** Key of argument hashes. */
  readonly argument_key: string
}

/** Requests the next records. */
export type ToReader = 'next'

/** Messages of the thread: first the outline or an error; then records per request, and at last the digests. */
export type FromReader =
  | {
      readonly kind: 'found'
      readonly format: string
      readonly warnings: readonly ImportWarning[]
      readonly runs: readonly ImportedRun[]
    }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly code: Code; readonly message: string; readonly place: ErrorLocation }
  | { readonly kind: 'slice'; readonly records: readonly ImportedRecord[] }
  | { readonly kind: 'end'; readonly digests: readonly string[] }

/** Location of an error in the file. */
export type ErrorLocation = Pick<ErrorBody, 'path' | 'line' | 'column' | 'known'>

/** What readers get; `key`: that of this installation for argument hashes. */
export const importContext = (key: string): ImportContext => ({ argumentHash: (args) => argumentHash(key, args) })
