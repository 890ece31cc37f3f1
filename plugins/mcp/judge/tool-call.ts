import type { Arguments } from '#lib/mcp-check'
import type { Caller } from './caller.ts'

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
