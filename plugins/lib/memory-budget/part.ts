/** What a store says of itself. */
export interface PartOptions {
  /** What the store holds, as `/metrics` names it: `histories`. */
  readonly name: string
  /**
   * Frees what was used longest ago until the store holds at most so many bytes, and tells `hold` what is left.
   * What is in use stays. Whatever it frees must be read or computed again when it is next needed.
   */
  readonly shrink: (bytes: number) => void
  /** It is not emptied when it is not used, because what it frees cannot always be had again. */
  readonly staysIdle?: boolean
}

/** The part of a memory budget that one store takes. */
export class MemoryPart {
  readonly name: string
  readonly shrink: PartOptions['shrink']
  readonly staysIdle: boolean
  readonly #changed: (difference: number) => void
  #bytes = 0
  /** Since the last look of the budget. */
  wasUsed = false
  /** Looks of the budget that found it unused, one after another. */
  idle_looks = 0

  constructor({ name, shrink, staysIdle = false }: PartOptions, changed: (difference: number) => void) {
    this.name = name
    this.shrink = shrink
    this.staysIdle = staysIdle
    this.#changed = changed
  }

  /** Bytes that the store holds, about. */
  get bytes(): number {
    return this.#bytes
  }

  /** The store was used, and holds so many bytes now. It may be shrunk before this returns. */
  hold(bytes: number): void {
    const difference = bytes - this.#bytes
    this.#bytes = bytes
    this.wasUsed = true
    this.#changed(difference)
  }
}
