/** Keeps messages of one connection in order: each is sent after those that came before it, whenever it is ready. */
export class SendOrder {
  readonly #turns: Turn[] = []

  /** Takes up a message. */
  join(): Turn {
    const turn = new Turn(() => this.#next())
    if (this.#turns.push(turn) === 1) turn.come()
    return turn
  }

  #next(): void {
    while (this.#turns[0]?.isOver === true) this.#turns.shift()
    this.#turns[0]?.come()
  }
}

/** The turn of one message. */
export class Turn {
  readonly #over: () => void
  readonly #came = Promise.withResolvers<void>()
  #isNow = false
  isOver = false

  constructor(over: () => void) {
    this.#over = over
  }

  /** All messages before this one are done. */
  come(): void {
    this.#isNow = true
    this.#came.resolve()
  }

  /** Calls `send` when it is the turn of the message. */
  take<T>(send: () => Promise<T>): Promise<T> {
    return this.#isNow ? this.#sent(send) : this.#came.promise.then(() => this.#sent(send))
  }

  #sent<T>(send: () => Promise<T>): Promise<T> {
    const sending = send()
    this.end()
    return sending
  }

  /** The message is sent, or never will be. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    if (this.#isNow) this.#over()
  }
}
