import type { Plugin } from 'guard-gateway/core'
import { type AccessOptions, access } from 'guard-gateway/plugins/access'
import { parsers } from 'guard-gateway/plugins/parsers'
import { type RedactionOptions, redaction } from 'guard-gateway/plugins/redaction'
import { type StoreOptions, store } from 'guard-gateway/plugins/store'

export interface FoundationOptions {
  readonly redaction?: RedactionOptions
  readonly access?: AccessOptions
  readonly store?: StoreOptions
}

/** The base of every gateway: redaction, access control, storage, and the end of the processes of parsers. */
export const foundation = (options: FoundationOptions = {}): readonly Plugin[] => [
  redaction(options.redaction),
  access(options.access),
  store(options.store),
  parsers(),
]
