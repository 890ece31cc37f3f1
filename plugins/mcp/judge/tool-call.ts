import type { Arguments } from '#lib/mcp-check'

/** A `tools/call` that is read and not judged yet. */
export interface ToolCall {
  readonly server_id: string
  /** `mcp_…`, the proxy's own. */
  readonly session_id: string
  readonly tool: string
  /** Absent: nothing is known of it. */
  readonly caller?: Caller
  readonly arguments: Arguments
  /** Source text of the arguments as the client sent them; `{}` if it sent none. */
  readonly text: string
  /** Folder of the server's process, absolute; undefined where it is not known. */
  readonly cwd: string | undefined
  /** Milliseconds since the epoch. */
  readonly at: number
}

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
