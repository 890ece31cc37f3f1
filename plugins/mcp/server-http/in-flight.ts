/** Requests that are being answered; the gateway waits for them before it closes. */
export class InFlight {
  readonly #open = new Set<Promise<void>>()

  /** Adds the promise of a request, which must not reject. */
  add(task: Promise<void>): void {
    this.#open.add(task)
    void task.then(() => this.#open.delete(task))
  }

  /** Resolves when none is left, those that are added meanwhile included. */
  async over(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }
}
