import type { McpServer } from 'guard-gateway/lib/mcp-transport'
import type { UpstreamAddress } from 'guard-gateway/lib/upstream-client'
import { upstreamAddress } from '#lib/network'

const CONNECT_MS = 10_000
/** A stream may be silent for as long as it likes: the longest time that a timer takes. */
const SILENT_MS = 2_147_483_647

/** The address of a server, parsed once. */
export interface ServerAddress {
  readonly address: UpstreamAddress
  /** Host and, unless it is the scheme's own, port. */
  readonly host: string
  /** With its query. */
  readonly path: string
}

/** Reads the address of a server. Throws TypeError for one that is none, and for a proxy that is none. */
export const serverAddress = (server: McpServer): ServerAddress => {
  const url = new URL(server.target ?? '')
  return {
    address: upstreamAddress(url, { connect_ms: CONNECT_MS, idle_ms: SILENT_MS }, server),
    host: url.host,
    path: url.pathname + url.search,
  }
}
