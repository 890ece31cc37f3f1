import type { ApiStyle } from 'guard-gateway/core'
import { sha256 } from 'guard-gateway/lib/ids'
import { LRU } from 'tiny-lru'

const MAX_ENTRIES = 64

/** A cache of tool definitions by the SHA-256 of their bytes. It evicts the least recently used entry. A client sends the same definitions with every request. */
export class ToolsCache {
  readonly #entries = new LRU<{ readonly style: ApiStyle; readonly tools: unknown }>(MAX_ENTRIES)

  /** The value that was parsed from equal bytes before, so that hashes and sizes known of that object are found again; else `parsed` itself. */
  intern(style: ApiStyle, bytes: Uint8Array, parsed: unknown): unknown {
    const hash = sha256(bytes)
    const earlier = this.#entries.get(hash)
    if (earlier?.style === style) return earlier.tools
    this.#entries.set(hash, { style, tools: parsed })
    return parsed
  }

  clear(): void {
    this.#entries.clear()
  }
}
