/** Who listens to a reply: pieces of its text in order, and a gap where anything else stands between. */
export interface Listener {
  text(piece: string): void
  gap(): void
}

/** Listens to one reply; `over` asks that it end here, which only a stream can. */
export interface ReplyListener extends Listener {
  readonly over: boolean
}

/** Understands one reply of a dialect: what it says, and how it can be ended early. */
export interface Speech {
  /** Reads one event of a stream. */
  event(event: Readonly<Record<string, unknown>>, listener: Listener): void
  /** Reads a whole reply. */
  body(value: Readonly<Record<string, unknown>>, listener: Listener): void
  /** Events that end the stream behind the last event read, as a reply ends that has used up its tokens; an empty text if it is over already. */
  ending(): string
}
