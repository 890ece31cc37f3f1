/** Where what belongs to one message of the client goes. */
export interface Exchange {
  /** Sends JSON text of a message; `last` if it is the answer. */
  send(json: string, last: boolean): void
  /** Closes the way to the client; what follows waits until it is fetched. */
  release(): void
  /** Goes away without an answer. */
  drop(): void
}
