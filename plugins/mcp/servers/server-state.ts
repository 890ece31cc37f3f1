import type { McpServer } from '#lib/mcp-transport'
import type { ServerFacts } from '../messages/initialize.ts'
import type { ListCache } from '../session/running-session.ts'
import type { ToolCatalog } from '../tools/index.ts'

/** A server that sessions can be opened at, and what it said of itself last. */
export interface McpServerState {
  readonly server: McpServer
  readonly tools: ToolCatalog
  readonly list_cache: ListCache
  facts: ServerFacts | undefined
  /** Milliseconds since 1970. */
  seen_at: number | undefined
  last_error: string | undefined
}
