import type { Chain } from 'guard-gateway/core'
import { shortSha256 } from '#lib/ids'

/** Items are hashed in blocks of so many: to hash one item costs about as much as to hash a block. */
const BLOCK_ITEMS = 16

/**
 * An immutable linked list of items with a hash, its tip. A longer chain shares the items of the chain that it was made from.
 * The tip is a hash over the items after the last full block, and over the tip of that block. It is computed when it is first needed.
 */
export class HashChain implements Chain {
  readonly length: number
  /** The chain without its last item; null if it is empty. */
  readonly before: HashChain | null
  readonly #item: string
  /** The chain up to the end of the last full block before this item. */
  readonly #block: HashChain | null
  #tip: string | undefined

  private constructor(before: HashChain | null, item: string, tip?: string) {
    this.length = before === null ? 0 : before.length + 1
    this.before = before
    this.#item = item
    this.#block = before === null || before.length % BLOCK_ITEMS === 0 ? before : before.#block
    // at the end of a block at once, so that each tip needs at most one other
    this.#tip = before !== null && this.length % BLOCK_ITEMS === 0 ? this.#hash() : tip
  }

  /** An empty chain. The tips of longer chains also cover `start`. */
  static from(start: string): HashChain {
    return new HashChain(null, '', start)
  }

  /** The chain with one more item. The end of an item must be clear from its text. */
  with(item: string): HashChain {
    return new HashChain(this, item)
  }

  get tip(): string {
    this.#tip ??= this.#hash()
    return this.#tip
  }

  tipOf(items: number): string | undefined {
    return items > 0 ? this.prefix(items)?.tip : undefined
  }

  longestIn(tips: ReadonlySet<string>): number {
    let chain: HashChain = this
    while (chain.before !== null && !tips.has(chain.tip)) chain = chain.before
    return chain.length
  }

  /** The chain of the first so many items; undefined if there are fewer. */
  prefix(items: number): HashChain | undefined {
    let chain: HashChain | null = this
    while (chain !== null && chain.length > items) {
      const base: HashChain | null = chain.#block
      chain = base !== null && base.length >= items ? base : chain.before
    }
    return chain?.length === items ? chain : undefined
  }

  #hash(): string {
    let items = ''
    for (let chain: HashChain | null = this; chain !== null && chain !== this.#block; chain = chain.before)
      items = chain.#item + items
    return shortSha256((this.#block?.tip ?? '') + items)
  }
}
