/** Names of one kind that a server has listed: own names by those in the bundle. A list counts when its last page is there; until then the one before it counts, too. */
export class ListedNames {
  #whole: Names = new Map()
  #growing: Names = new Map()
  /** The server's whole list is known, and it has not said that it is another now. */
  isComplete = false

  /** The first page of a list follows. */
  begin(): void {
    this.#growing = new Map()
  }

  /** False: there are more than may be. */
  add(name: string, own: string): boolean {
    const known = this.#growing.get(name)
    if (known === undefined) this.#growing.set(name, [own])
    else if (!known.includes(own)) known.push(own)
    return this.#growing.size <= MAX_NAMES
  }

  /** The last page was there. */
  end(): void {
    this.#whole = this.#growing
    this.isComplete = true
  }

  /** The server's own names for a name of the bundle. */
  ownOf(name: string): readonly string[] {
    const now = this.#growing.get(name) ?? []
    return this.#growing === this.#whole || now.length > 0 ? now : (this.#whole.get(name) ?? [])
  }

  names(): Iterable<string> {
    return this.#whole.keys()
  }
}

type Names = Map<string, string[]>

const MAX_NAMES = 10_000
