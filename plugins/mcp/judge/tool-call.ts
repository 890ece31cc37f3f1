import type { Arguments } from 'guard-gateway/lib/mcp-check'

/** A `tools/call` that is read and not judged yet. */
export interface ToolCall {
  readonly server_id: string
  /** `mcp_…`, the proxy's own. */
  readonly session_id: string
  readonly tool: string
  readonly arguments: Arguments
  /** Source text of the arguments as the client sent them; `{}` if it sent none. */
  readonly text: string
  /** Folder of the server's process, absolute; undefined where it is not known. */
  readonly cwd: string | undefined
  /** Milliseconds since the epoch. */
  readonly at: number
}
