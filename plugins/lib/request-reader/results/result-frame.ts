/** A tool result without the frame of its client. */
export interface UnframedResult {
  /** The output of the tool itself; empty if it had none. */
  readonly body: string
  /** Null if the frame does not say whether the tool failed. */
  readonly failed: boolean | null
}

/** The text that a client writes around tool results. */
export interface ResultFrame {
  /** The client, the recorded version, and an example. */
  readonly client: string
  /** Removes the frame; undefined if the text has another frame or none. */
  read(text: string): UnframedResult | undefined
}
