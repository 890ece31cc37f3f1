import type { Hit } from './hit.ts'
import { isMade } from './opaque.ts'

const MAX_VALUES = 32
const MAX_LENGTH = 200
const MIN_LENGTH = 12
/** Longer texts teach nothing, so that no text makes itself dear. */
const MAX_TEXT = 262_144

/** What was hidden before, in other texts. */
export interface Recall {
  add(value: string): void
  /** Where what was hidden before stands again. */
  find(text: string): readonly Hit[]
}

/** Values that were hidden in one text or record, so that they are hidden wherever else they stand in it; bounded, and no common words. */
export class Learned {
  readonly #values = new Set<string>()
  /** What was hidden before this call. */
  before: Recall | undefined

  get size(): number {
    return this.#values.size
  }

  clear(): void {
    // it makes a new table each time
    if (this.#values.size > 0) this.#values.clear()
  }

  add(text: string, hits: readonly Hit[]): void {
    if (text.length > MAX_TEXT) return
    for (const { start, end, kind } of hits) {
      if (kind === 'email' || end - start < MIN_LENGTH || end - start > MAX_LENGTH) continue
      const value = text.slice(start, end)
      if (this.#values.size >= MAX_VALUES || this.#values.has(value) || !isMade(value)) continue
      this.#values.add(value)
      // a key of a known shape needs no memory
      if (kind !== 'key' && kind !== 'configured') this.before?.add(value)
    }
  }

  standsIn(text: string): boolean {
    for (const value of this.#values) if (text.includes(value)) return true
    return this.before !== undefined && this.before.find(text).length > 0
  }

  /** Adds where the values stand again. */
  find(text: string, hits: Hit[]): void {
    for (const value of this.#values)
      for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length))
        hits.push({ start: at, end: at + value.length, kind: 'name' })
    for (const hit of this.before?.find(text) ?? []) hits.push(hit)
  }
}
