import type { Change, Found, Gateway } from 'guard-gateway/core'
import type { ToolRow } from './tables.ts'

const PAGE = 500

/** Where the pins of one server's tools are kept. */
export interface PinRows {
  all(): Promise<readonly ToolRow[]>
  get(tool: string): Promise<ToolRow | undefined>
  /** Adds rows; those that are there already stand. False if there were any. */
  add(rows: readonly ToolRow[]): Promise<boolean>
  /** Compare and set; false, and nothing changed, if what was seen last is not `seen`. */
  change(tool: string, changes: Partial<ToolRow>, seen?: string): Promise<boolean>
}

/** Pins that every gateway on the same storage goes by. */
export const storedPins = (gateway: Gateway, server_id: string): PinRows => ({
  async all() {
    const rows: ToolRow[] = []
    let cursor: string | null = null
    do {
      const found: Found<ToolRow> = await gateway.storage.find('mcp_tools', {
        where: { server_id },
        limit: PAGE,
        ...(cursor === null ? {} : { cursor }),
      })
      rows.push(...found.rows)
      cursor = found.next_cursor
    } while (cursor !== null)
    return rows
  },
  get: (tool) => gateway.storage.get('mcp_tools', [server_id, tool]),
  async add(rows) {
    const changes = rows.map((put): Change => ({ table: 'mcp_tools', put, when: 'absent' }))
    if (await gateway.storage.write(changes)) return true
    for (const row of rows) await gateway.storage.put('mcp_tools', row, 'absent')
    return false
  },
  change: (tool, changes, seen) =>
    gateway.storage.patch('mcp_tools', [server_id, tool], changes, seen === undefined ? {} : { seen }),
})

/** Pins that end with their session. */
export const sessionPins = (): PinRows => {
  const stored = new Map<string, ToolRow>()
  return {
    all: async () => [...stored.values()],
    get: async (tool) => stored.get(tool),
    async add(rows) {
      const fresh = rows.filter(({ tool }) => !stored.has(tool))
      for (const row of fresh) stored.set(row.tool, row)
      return fresh.length === rows.length
    },
    async change(tool, changes, seen) {
      const row = stored.get(tool)
      if (row === undefined || (seen !== undefined && row.seen !== seen)) return false
      stored.set(tool, { ...row, ...changes })
      return true
    },
  }
}
