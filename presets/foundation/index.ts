import type { Plugin } from 'guard-gateway/core'
import { type AccessOptions, access } from 'guard-gateway/plugins/access'
import { type RedactionOptions, redaction } from 'guard-gateway/plugins/redaction'
import { type StoreOptions, store } from 'guard-gateway/plugins/store'

export interface FoundationOptions {
  readonly redaction?: RedactionOptions
  readonly access?: AccessOptions
  readonly store?: StoreOptions
}

/** What every gateway begins with, and does not open without: what is hidden, who may do what, where rows are kept. */
export const foundation = (options: FoundationOptions = {}): readonly Plugin[] => [
  redaction(options.redaction),
  access(options.access),
  store(options.store),
]
