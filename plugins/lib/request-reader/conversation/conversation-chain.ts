import type { Chain } from 'guard-gateway/core'
import type { HashChain } from './hash-chain.ts'

/** The chain of all items of a conversation. System items have a chain of their own, so that their changes do not change the tips of the talk. */
export class ConversationChain implements Chain {
  readonly length: number
  readonly #system: HashChain
  readonly #talk: HashChain
  readonly #systems: readonly number[]

  /** `systems`: the positions of the system items among all items. */
  constructor(system: HashChain, talk: HashChain, systems: readonly number[]) {
    this.length = system.length + talk.length
    this.#system = system
    this.#talk = talk
    this.#systems = systems
  }

  get tip(): string {
    return combinedTip(this.#system, this.#talk)
  }

  tipOf(items: number): string | undefined {
    if (items <= 0 || items > this.length) return
    let count = this.#systems.length
    while (count > 0 && (this.#systems[count - 1] ?? 0) >= items) count--
    const system = this.#system.prefix(count)
    const talk = this.#talk.prefix(items - count)
    return system && talk && combinedTip(system, talk)
  }

  longestIn(tips: ReadonlySet<string>): number {
    let system = this.#system
    let talk = this.#talk
    let length = this.length
    while (length > 0 && !tips.has(combinedTip(system, talk))) {
      length--
      if (this.#systems[system.length - 1] === length) system = system.before ?? system
      else talk = talk.before ?? talk
    }
    return length
  }
}

/** The tip of all items: of the system items and of the others. */
export const combinedTip = (system: HashChain, talk: HashChain): string => system.tip + talk.tip
