/** What stands in a client's frame around the result of a tool. */
export interface Framed {
  /** What the tool itself said; empty if it said nothing. */
  readonly body: string
  /** Null where nothing tells whether it failed. */
  readonly failed: boolean | null
}

/** How a client frames results. */
export interface Frame {
  /** Who writes it, in which version it was recorded, and what it looks like. */
  readonly client: string
  /** Undefined if the text is not framed so. */
  read(text: string): Framed | undefined
}
