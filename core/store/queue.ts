/** Lets one piece of work at a time run for each name, in the order in which they came. */
export class Queues {
  readonly #last = new Map<string, Promise<unknown>>()

  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name)
    const mine = before === undefined ? work() : before.then(work, work)
    this.#last.set(name, mine)
    const release = () => {
      if (this.#last.get(name) === mine) this.#last.delete(name)
    }
    mine.then(release, release)
    return mine
  }

  /** Names that have work under way or waiting. */
  get size(): number {
    return this.#last.size
  }
}
