import type { ApiStyle } from 'guard-gateway/core'
import { sha256 } from 'guard-gateway/lib/ids'

const MAX_ENTRIES = 64

/** A cache of tool definitions by the SHA-256 of their bytes. It evicts the least recently used entry. A client sends the same definitions with every request. */
export class ToolsCache {
  readonly #entries = new Map<string, { readonly style: ApiStyle; readonly tools: unknown }>()

  /** The value that was parsed from equal bytes before, so that hashes and sizes known of that object are found again; else `parsed` itself. */
  intern(style: ApiStyle, bytes: Uint8Array, parsed: unknown): unknown {
    const hash = sha256(bytes)
    const earlier = this.#entries.get(hash)
    const entry = earlier?.style === style ? earlier : { style, tools: parsed }
    this.#entries.delete(hash)
    this.#entries.set(hash, entry)
    if (this.#entries.size > MAX_ENTRIES) this.#entries.delete(this.#entries.keys().next().value ?? '')
    return entry.tools
  }

  clear(): void {
    this.#entries.clear()
  }
}
