import { cutBeforeRedaction } from 'guard-gateway/text'

/** A JSON value. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [name: string]: Plain }

/**
 * UTF-16 units of a text that are retained until it is sent. Sent text is shorter, but redaction must see a complete secret at the limit.
 */
const MAX_CHARS = 32_768
/** Nesting limit below the attributes. */
const MAX_DEPTH = 30
/** Limit of values per attribute. */
const MAX_VALUES = 5_000

/** Limits a text that waits to be sent. */
export const boundedText = (text: string): string =>
  text.length <= MAX_CHARS ? text : cutBeforeRedaction(text, MAX_CHARS)

/** Size of one snapshot. */
class Snapshot {
  /** Approximate UTF-16 units of its JSON. */
  size = 0
  #values = 0

  take(value: unknown, depth: number): Plain | undefined {
    if (++this.#values > MAX_VALUES) return this.#text('[too many values]')
    if (typeof value === 'object' && value !== null) return this.#object(value, depth)
    this.size += 8
    if (typeof value === 'string') return this.#text(boundedText(value))
    if (typeof value === 'boolean' || value === null) return value
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
    return undefined
  }

  #text(text: string): string {
    this.size += text.length
    return text
  }

  #object(value: object, depth: number): Plain | undefined {
    if (depth >= MAX_DEPTH) return this.#text('[too deep]')
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return this.#text(`[${value.byteLength} bytes]`)
    if ('toJSON' in value && typeof value.toJSON === 'function') return this.take(value.toJSON(), depth + 1)
    if (Array.isArray(value)) return this.#list(value, depth)
    if (value instanceof Set) return this.#list([...value], depth)
    if (value instanceof Error) return this.#members({ ...value, name: value.name, message: value.message }, depth)
    return this.#members(value instanceof Map ? Object.fromEntries(value) : value, depth)
  }

  #list(list: readonly unknown[], depth: number): readonly Plain[] {
    const copy: Plain[] = []
    for (const element of list) {
      if (this.#values > MAX_VALUES) break
      copy.push(this.take(element, depth + 1) ?? null)
    }
    return copy
  }

  #members(object: object, depth: number): { readonly [name: string]: Plain } {
    // without a prototype, `__proto__` is an ordinary name
    const copy: Record<string, Plain> = Object.create(null)
    for (const [name, value] of Object.entries(object)) {
      if (this.#values > MAX_VALUES) break
      const plain = this.take(value, depth + 1)
      if (plain === undefined) continue
      this.size += name.length
      copy[boundedText(name)] = plain
    }
    return copy
  }
}

export interface SnapshotResult {
  /** Undefined for values that JSON omits: undefined, functions, symbols. */
  readonly value: Plain | undefined
  /** Approximate UTF-16 units of its JSON. */
  readonly size: number
}

/** A bounded copy of a value. Never throws: unreadable values become `[unreadable]`. */
export const snapshot = (value: unknown): SnapshotResult => {
  const taker = new Snapshot()
  try {
    return { value: taker.take(value, 0), size: taker.size }
  } catch {
    return { value: '[unreadable]', size: 16 }
  }
}
