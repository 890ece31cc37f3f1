/** A call's record on its way into storage, and what commits with it. Whoever records merges its members in, as with `Tables`. */
export interface Recording {}

/** The record of a tool call that has ended, on its way into storage; its members are merged in likewise. */
export interface ToolRecording {}
