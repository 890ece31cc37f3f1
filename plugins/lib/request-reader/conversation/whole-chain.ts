import type { Chain } from 'guard-gateway/core'
import type { Link } from './hash-chain.ts'

/** All items of a conversation. System items have links of their own: what changes in them leaves the tips of the talk as they are. */
export class WholeChain implements Chain {
  readonly length: number
  readonly #system: Link
  readonly #talk: Link
  readonly #systems: readonly number[]

  /** `systems`: the positions of system items among all. */
  constructor(system: Link, talk: Link, systems: readonly number[]) {
    this.length = system.length + talk.length
    this.#system = system
    this.#talk = talk
    this.#systems = systems
  }

  get tip(): string {
    return tipOfBoth(this.#system, this.#talk)
  }

  tipOf(items: number): string | undefined {
    if (items <= 0 || items > this.length) return
    let count = this.#systems.length
    while (count > 0 && (this.#systems[count - 1] ?? 0) >= items) count--
    const system = this.#system.first(count)
    const talk = this.#talk.first(items - count)
    return system && talk && tipOfBoth(system, talk)
  }

  longestIn(tips: ReadonlySet<string>): number {
    let system = this.#system
    let talk = this.#talk
    let length = this.length
    while (length > 0 && !tips.has(tipOfBoth(system, talk))) {
      length--
      if (this.#systems[system.length - 1] === length) system = system.before ?? system
      else talk = talk.before ?? talk
    }
    return length
  }
}

/** What all items are known by, the system items and the others. */
export const tipOfBoth = (system: Link, talk: Link): string => system.tip + talk.tip
