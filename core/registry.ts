import { checkShape, type Shape } from './entry-shape.ts'
import { GuardError } from './errors.ts'

/** Named things of one kind, in the order in which they were added. */
export class Registry<T extends { readonly id: string }> {
  readonly kind: string
  readonly #shape: Shape
  readonly #entries = new Map<string, T>()
  readonly #owners = new Map<string, string>()
  readonly #registering: () => string
  /** `registering`: who adds entries, as errors name it. */
  constructor(kind: string, shape: Shape = {}, registering: () => string = () => 'this program') {
    this.kind = kind
    this.#shape = shape
    this.#registering = registering
  }
  /** Throws TypeError for an entry that is none of this kind, DUPLICATE for an id that is taken. */
  add(...entries: readonly T[]): void {
    for (const entry of entries) {
      checkShape(this.kind, this.#shape, entry)
      const [owner, other] = [this.#owners.get(entry.id), this.#registering()]
      if (owner !== undefined)
        throw new GuardError('DUPLICATE', `${this.kind} "${entry.id}" is registered twice: by ${owner} and ${other}.`)
      this.#owners.set(entry.id, other)
      this.#entries.set(entry.id, entry)
    }
  }
  /** Who has added the entry of this id, as errors name it. */
  ownerOf(id: string): string {
    return this.#owners.get(id) ?? ''
  }
  get(id: string): T | undefined {
    return this.#entries.get(id)
  }
  /** The entry of this id; throws UNKNOWN naming those there are. */
  need(id: string): T {
    const entry = this.#entries.get(id)
    if (entry === undefined) {
      throw new GuardError(
        'UNKNOWN',
        `There is no ${this.kind} "${id}"; there is ${this.ids().join(', ') || 'none'}.`,
        { known: this.ids() },
      )
    }
    return entry
  }
  ids(): string[] {
    return [...this.#entries.keys()]
  }
  [Symbol.iterator](): IterableIterator<T> {
    return this.#entries.values()
  }
}
