/** A text in another form, and for each of its characters where it came from. */
export interface View {
  readonly text: string
  /** The offset in the source of an offset in the view; also of the end. */
  origin(offset: number): number
}

/** Builds a view out of kept parts and replaced ones, which is as long as its replacements are many. */
export class ViewBuilder {
  readonly #source: string
  /** Offsets in the view where a part begins, and where each came from. */
  readonly #starts: number[] = []
  readonly #origins: number[] = []
  /** Whether the characters of a part came from one place together. */
  readonly #fixed: boolean[] = []
  #text = ''
  #from = 0

  constructor(source: string) {
    this.#source = source
  }

  /** `meaning` stands for the `length` characters at `offset`; offsets grow from call to call. */
  replace(offset: number, length: number, meaning: string): void {
    this.#keep(offset)
    if (meaning !== '') this.#part(offset, true, meaning)
    this.#from = offset + length
  }

  /** The view; undefined if nothing was replaced. */
  view(): View | undefined {
    if (this.#from === 0) return undefined
    this.#keep(this.#source.length)
    this.#part(this.#source.length, true, '')
    return { text: this.#text, origin: (offset) => this.#originOf(offset) }
  }

  #keep(to: number): void {
    if (to > this.#from) this.#part(this.#from, false, this.#source.slice(this.#from, to))
  }

  #part(origin: number, fixed: boolean, text: string): void {
    this.#starts.push(this.#text.length)
    this.#origins.push(origin)
    this.#fixed.push(fixed)
    this.#text += text
  }

  #originOf(offset: number): number {
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    const origin = this.#origins[low] ?? 0
    return this.#fixed[low] === true ? origin : origin + offset - (this.#starts[low] ?? 0)
  }
}
