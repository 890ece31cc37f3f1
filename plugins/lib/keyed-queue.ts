export { WriteBehind } from './keyed-queue/write-behind.ts'

/** Lets one piece of work at a time run for each name, in the order in which they came. */
export class KeyedQueue {
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

  /** The same for several keys: it waits for earlier tasks of any of them, and later tasks of any wait for it. */
  runAll<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = names.map((name) => this.#last.get(name)).filter((one) => one !== undefined)
    const mine = before.length === 0 ? work() : Promise.allSettled(before).then(work)
    for (const name of names) this.#last.set(name, mine)
    const release = () => {
      for (const name of names) if (this.#last.get(name) === mine) this.#last.delete(name)
    }
    mine.then(release, release)
    return mine
  }

  /** Number of keys with running or waiting tasks. */
  get size(): number {
    return this.#last.size
  }
}
