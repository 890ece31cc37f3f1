import type { McpServer } from '#lib/mcp-transport'
import { sessionPins, ToolCatalog, toolTable } from '../../../../plugins/mcp/tools/index.ts'
import { type Kit, type KitOptions, makeKit } from '../audit/records-kit.ts'

/** A gateway in which pins are kept, and the catalogs of a server over it. */
export interface CatalogKit {
  readonly kit: Kit
  /** Another catalog of the same server, as after a restart or in another process. */
  catalog(): ToolCatalog
  /** One whose pins are its own. */
  sessionPinned(): ToolCatalog
  /** Names of pin events on record, oldest first, with their tools. */
  events(): Promise<readonly string[]>
}

export const server: McpServer = {
  id: 'fs',
  name: 'Files',
  transport: 'http',
  target: 'http://127.0.0.1:1/mcp',
  headers: {},
  timeout_ms: 1000,
  args: [],
  env: {},
}

export const startCatalogs = async (options: KitOptions = {}): Promise<CatalogKit> => {
  const kit = makeKit(options)
  kit.gateway.tables.add(toolTable)
  await kit.gateway.open()
  return {
    kit,
    catalog: () => new ToolCatalog(kit.gateway, server, kit.audit),
    sessionPinned: () => new ToolCatalog(kit.gateway, server, kit.audit, sessionPins()),
    events: async () => {
      await kit.audit.flush()
      const { rows } = await kit.gateway.storage.find('mcp_audit', { limit: 200 })
      return rows
        .filter(({ kind }) => kind === 'pin')
        .map(({ name, tool }) => `${name} ${tool}`)
        .reverse()
    },
  }
}

/** JSON text of a result of `tools/list`; a tool is a name, or a whole definition. */
export const page = (tools: readonly (string | object)[], nextCursor?: string): string =>
  JSON.stringify({
    tools: tools.map((tool) => (typeof tool === 'string' ? { name: tool, inputSchema: { type: 'object' } } : tool)),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  })
