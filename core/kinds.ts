import type { ApiStyle } from './contracts/api-style.ts'
import type { Detector } from './contracts/detector.ts'
import type { StorageBackend, Table } from './contracts/storage.ts'
import type { Shape } from './entry-shape.ts'
import type { ErrorCode } from './errors/catalogue.ts'

/** A kind of things that plugins register; `gateway.registry(kind)` has those that there are. A feature that others contribute to brings its own. */
export class Kind<T extends { readonly id: string }> {
  /** In the singular, as errors say it: `MCP check`. */
  readonly title: string
  readonly shape: Shape
  declare readonly entry: T

  constructor(title: string, shape: Shape) {
    this.title = title
    this.shape = shape
  }
}

export const detectorKind = new Kind<Detector>('detector', {
  detect: 'prompt',
  'measure?': 'prompt',
  'stream?': 'prompt',
})
export const apiStyleKind = new Kind<ApiStyle>('API style', {
  paths: 'list',
  list: 'text',
  envelope: 'prompt',
  parts: 'prompt',
  meter: 'prompt',
  refusal: 'prompt',
  'unguarded?': 'list',
  'credential?': 'object',
  'listen?': 'prompt',
  'nudge?': 'prompt',
})
export const storageKind = new Kind<StorageBackend>('storage backend', { open: 'function' })
export const tableKind = new Kind<Table>('table', { columns: 'object' })
export const errorCodeKind = new Kind<ErrorCode>('error code', {
  status: 'number',
  type: 'text',
  message: 'text',
  help: 'text',
})
