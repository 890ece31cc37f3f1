import type { Attributes } from './api.ts'
import { boundedText, type Plain, snapshot } from './snapshot.ts'

/** The gateway accepts 256 attributes per record. One is reserved for the count of omitted ones. */
const MAX_ATTRIBUTES = 255
/** Texts up to this length, in UTF-16 units, need no snapshot. */
const SHORT = 1_024

const NONE: ReadonlyMap<string, Plain> = new Map()

/** The attributes of one record. They are copied when given and redacted when sent. */
export class AttributeSet {
  #values: Map<string, Plain> | undefined
  #size = 0
  #leftOut = 0

  /** Approximate UTF-16 units of their JSON. */
  get size(): number {
    return this.#size
  }
  get leftOut(): number {
    return this.#leftOut
  }
  get values(): ReadonlyMap<string, Plain> {
    return this.#values ?? NONE
  }

  /** Adds attributes. An existing name is replaced. Never throws. */
  add(attributes: Attributes | undefined): void {
    if (typeof attributes !== 'object' || attributes === null) return
    for (const name of namesOf(attributes)) this.#take(name, attributes)
  }

  put(name: string, value: Plain): void {
    this.#keep(name, value, typeof value === 'string' ? value.length : 8)
  }

  #take(name: string, attributes: Attributes): void {
    const value = read(attributes, name)
    if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) {
      this.#keep(name, value, 8)
      return
    }
    if (typeof value === 'string' && value.length <= SHORT) {
      this.#keep(name, value, value.length)
      return
    }
    const taken = snapshot(value)
    if (taken.value !== undefined) this.#keep(name, taken.value, taken.size)
  }

  #keep(name: string, value: Plain, size: number): void {
    this.#values ??= new Map()
    if (this.#values.size >= MAX_ATTRIBUTES && !this.#values.has(name)) {
      this.#leftOut++
      return
    }
    this.#size += size + name.length
    this.#values.set(boundedText(name), value)
  }
}

const namesOf = (attributes: Attributes): readonly string[] => {
  try {
    return Object.keys(attributes)
  } catch {
    return []
  }
}

/** A getter of the user can throw. */
const read = (attributes: Attributes, name: string): unknown => {
  try {
    return attributes[name]
  } catch {
    return '[unreadable]'
  }
}
