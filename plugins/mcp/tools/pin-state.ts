import type { Gateway, Notice } from 'guard-gateway/core'
import type { PinState } from '../audit/enums.ts'
import { INSTRUCTIONS } from './definition.ts'
import { lineDifference } from './difference.ts'
import type { ToolRow } from './tables.ts'

const MAX_ROWS = 500

/** The row that says that a server's first list has been seen to its end. */
export const WHOLE_LIST = ''

/** How the definition that was listed last compares with the trusted one. */
export const pinOf = ({ fingerprint, seen }: Pick<ToolRow, 'fingerprint' | 'seen'>): PinState => {
  if (fingerprint === null) return 'new'
  return fingerprint === seen ? 'known' : 'changed'
}

/** Tools whose definition is not trusted yet, of all servers that share the storage: `guard mcp run` starts its own. At most 500. */
export const waitingTools = async ({ storage }: Gateway): Promise<readonly ToolRow[]> => {
  const { rows } = await storage.find('mcp_tools', { where: { waits: 1 }, limit: MAX_ROWS })
  return rows.filter((row) => pinOf(row) !== 'known')
}

/** What changed in a definition, line by line; all of it for a new tool, null where its text was not kept. */
export const pinDifference = async (
  { storage }: Gateway,
  server_id: string,
  tool: string,
): Promise<string[] | null> => {
  const row = await storage.get('mcp_tools', [server_id, tool])
  if (row === undefined || pinOf(row) === 'known' || row.seen_text === null) return null
  if (row.fingerprint === null) return row.seen_text.split('\n').map((line) => `+ ${line}`)
  return row.text === null ? null : lineDifference(row.text, row.seen_text)
}

/** What a person is told of a definition that nobody has trusted; the page shows what changed. */
export const pinNotice = (server_id: string, tool: string, how: 'new' | 'changed'): Notice => {
  const what = tool === INSTRUCTIONS ? 'What it says of itself' : `Its tool "${tool}"`
  const happened = how === 'new' ? 'is new' : 'is not what was trusted any more'
  return {
    event: 'tool_changed',
    subject: `${server_id} ${tool}`,
    text: `MCP server "${server_id}" has changed: ${what} ${happened}, and waits for a person.`,
    path: '/mcp',
  }
}
