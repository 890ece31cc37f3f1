/** Work that goes on by itself. */
export class InFlight {
  readonly #open = new Set<Promise<void>>()

  /** Follows a task, which must not reject. */
  add(task: Promise<void>): void {
    this.#open.add(task)
    void task.then(() => this.#open.delete(task))
  }

  /** Resolves when none is left, also of those that are added meanwhile. */
  async over(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }
}
