/** Who makes a call, as far as the proxy knows. Null: that is not known. */
export interface Caller {
  /** Of an agent's key that of the key; else the client says it, or the command line of `guard mcp run`. */
  readonly agent: string | null
  readonly project: string | null
  /** The session of its own that the client names. */
  readonly session: string | null
  /** The name that the client gives itself at `initialize`. */
  readonly client: string | null
  /** The key that opened the session: its id and, where it has one, its name; `gateway` for the gateway key. Empty where none was shown. */
  readonly key: readonly string[]
}

export const nobody: Caller = { agent: null, project: null, session: null, client: null, key: [] }
