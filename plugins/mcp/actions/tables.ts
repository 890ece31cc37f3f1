import { type Table, table } from 'guard-gateway/core'

/** Calls that count against one limit shared by sessions; changed by compare-and-set on `version`. */
export interface LimitRow {
  /** Hash of rule, kind and key. */
  readonly id: string
  readonly version: number
  /** Milliseconds since 1970, oldest first. */
  readonly times: readonly number[]
  /** When none of them counts any more. */
  readonly until: number
}

declare module 'guard-gateway/core' {
  interface Tables {
    mcp_limits: LimitRow
  }
}

/** What limits store. */
export const limitTable: Table = table<'mcp_limits'>({
  id: 'mcp_limits',
  columns: { id: 'text', version: 'integer', times: 'json', until: 'integer' },
  indexes: [['until']],
  exact: ['id', 'times'],
})
