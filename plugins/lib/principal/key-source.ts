import type { Identity } from 'guard-gateway/core'

/** Further keys, by their SHA-256 in hex. */
export interface KeySource {
  identify(hash: string): Identity | undefined
  /** The key of this id is one of this source, and still valid. */
  isLive(id: string): boolean
  /** Asks the storage for what is not known, or not for sure; undefined: nothing to ask. */
  lookUp(hash: string): Promise<void> | undefined
  /** Reads all keys anew. */
  refresh(): Promise<void>
}

declare module 'guard-gateway/core' {
  interface Keys {
    addSource(source: KeySource): void
    /** Asks sources, after which `identify` knows the keys of other processes too; undefined: nothing to ask. */
    lookUp(credentials: readonly string[]): Promise<unknown> | undefined
    /** Reads the keys of sources anew. */
    refresh(): Promise<void>
  }
}
