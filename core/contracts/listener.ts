/** Who listens to a reply: pieces of its text in order, and a gap where anything else stands between. */
export interface Listener {
  text(piece: string): void
  gap(): void
}

/** Listens to one reply; `over` asks that it end here, which only a stream can. */
export interface ReplyListener extends Listener {
  readonly over: boolean
}
