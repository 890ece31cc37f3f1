import type { ApiStyle } from 'guard-gateway/core'
import { sha256 } from 'guard-gateway/lib/ids'

const LIMIT = 64

/** Tool definitions by the SHA-256 of their bytes, the least recently used first out: few are in use, and each comes with every request. */
export class KnownTools {
  readonly #known = new Map<string, { readonly style: ApiStyle; readonly tools: unknown }>()

  /** The value that equal bytes gave this style before, so that what is known of that value need not be found out again; else `parsed` itself. */
  of(style: ApiStyle, bytes: Uint8Array, parsed: unknown): unknown {
    const print = sha256(bytes)
    const earlier = this.#known.get(print)
    const entry = earlier?.style === style ? earlier : { style, tools: parsed }
    this.#known.delete(print)
    this.#known.set(print, entry)
    if (this.#known.size > LIMIT) this.#known.delete(this.#known.keys().next().value ?? '')
    return entry.tools
  }

  clear(): void {
    this.#known.clear()
  }
}
