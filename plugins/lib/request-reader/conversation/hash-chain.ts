import type { Chain } from 'guard-gateway/core'
import { shortSha256 } from 'guard-gateway/lib/ids'

/** So many items are hashed at once: one by one, each would cost about as much as all of them. */
const STRETCH = 16

/**
 * A list by its last item; those before it are shared with the list that it was made from, and never change.
 * Its tip is a hash over the items since the last full stretch and over that stretch's tip: made once somebody asks.
 */
export class Link implements Chain {
  readonly length: number
  /** The list without its last item; null if it has none. */
  readonly before: Link | null
  readonly #item: string
  /** Where the last full stretch before this item ends. */
  readonly #base: Link | null
  #tip: string | undefined

  private constructor(before: Link | null, item: string, tip?: string) {
    this.length = before === null ? 0 : before.length + 1
    this.before = before
    this.#item = item
    this.#base = before === null || before.length % STRETCH === 0 ? before : before.#base
    // at the end of each stretch at once, so that no tip needs more than one other
    this.#tip = before !== null && this.length % STRETCH === 0 ? this.#hashed() : tip
  }

  /** No items yet; the tips of what is added cover `start` too. */
  static from(start: string): Link {
    return new Link(null, '', start)
  }

  /** The list with one more item: a text that tells by itself where it ends. */
  with(item: string): Link {
    return new Link(this, item)
  }

  get tip(): string {
    this.#tip ??= this.#hashed()
    return this.#tip
  }

  tipOf(items: number): string | undefined {
    return items > 0 ? this.first(items)?.tip : undefined
  }

  longestIn(tips: ReadonlySet<string>): number {
    let link: Link = this
    while (link.before !== null && !tips.has(link.tip)) link = link.before
    return link.length
  }

  /** The list of the first so many items; undefined if there are fewer. */
  first(items: number): Link | undefined {
    let link: Link | null = this
    while (link !== null && link.length > items) {
      const base: Link | null = link.#base
      link = base !== null && base.length >= items ? base : link.before
    }
    return link?.length === items ? link : undefined
  }

  #hashed(): string {
    let items = ''
    for (let link: Link | null = this; link !== null && link !== this.#base; link = link.before)
      items = link.#item + items
    return shortSha256((this.#base?.tip ?? '') + items)
  }
}
