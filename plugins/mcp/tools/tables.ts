import { type Table, table } from 'guard-gateway/core'

/** The definition of a tool that is trusted, and the one that was seen last. */
export interface ToolRow {
  readonly server_id: string
  /** Empty: the row says that the server's first list has been seen to its end. */
  readonly tool: string
  /** SHA-256 in hex of the trusted definition; null for a tool that appeared later and is not accepted. */
  readonly fingerprint: string | null
  /** Of the definition that was listed last. */
  readonly seen: string
  /** Milliseconds since 1970. */
  readonly first_seen_at: number
  readonly trusted_at: number | null
  /** The trusted definition as lines of text, redacted; null where it was not kept. */
  readonly text: string | null
  /** The definition that was listed last in the same way. */
  readonly seen_text: string | null
  /** 1 while the definition that was listed last is not the trusted one, so that the two can be found at once. */
  readonly waits: number
}

declare module 'guard-gateway/core' {
  interface Tables {
    mcp_tools: ToolRow
  }
}

/** Where the pins of tools are kept. */
export const toolTable: Table = table<'mcp_tools'>({
  id: 'mcp_tools',
  key: ['server_id', 'tool'],
  columns: {
    server_id: 'text',
    tool: 'text',
    fingerprint: 'text',
    seen: 'text',
    first_seen_at: 'integer',
    trusted_at: 'integer',
    text: 'text',
    seen_text: 'text',
    waits: 'integer',
  },
  indexes: [['server_id'], ['waits']],
  exact: ['server_id', 'tool', 'fingerprint', 'seen'],
})
