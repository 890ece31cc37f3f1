import { type Gateway, GuardError } from 'guard-gateway/core'
import { isJsonObject } from '#lib/json'
import { mcpErrors } from '../error-codes.ts'
import type { Mcp } from '../mcp.ts'
import { INSTRUCTIONS, storedPins, WHOLE_LIST } from '../tools/index.ts'
import { type DraftedTool, draftedTool } from './drafted-tool.ts'

/** The tools of a server as they were listed last: here, else by whatever process has written them to the storage. */
export const toolsOnRecord = async (mcp: Mcp, server_id: string): Promise<readonly DraftedTool[]> => {
  const catalog = mcp.serverState(server_id)?.tools
  const listed = [...(catalog?.names() ?? [])].map((name): DraftedTool => {
    const description = catalog?.description(name) ?? { title: null, description: null, annotations: {} }
    return { server_id, name, ...description, inputSchema: catalog?.inputSchema(name) }
  })
  return listed.length > 0 ? listed : storedTools(mcp.gateway, server_id)
}

const storedTools = async (gateway: Gateway, server_id: string): Promise<readonly DraftedTool[]> => {
  const rows = await storedPins(gateway, server_id).all()
  return rows
    .filter(({ tool }) => tool !== WHOLE_LIST && tool !== INSTRUCTIONS)
    .map(({ tool, seen_text }) => draftedTool(server_id, tool, storedDefinition(seen_text ?? ''), gateway.redact))
}

const MAX_ROWS = 5_000

/** The servers whose tools are on record. */
export const serversOnRecord = async (mcp: Mcp): Promise<readonly string[]> => {
  const { rows } = await mcp.gateway.storage.find('mcp_tools', { limit: MAX_ROWS })
  const here = mcp.serverStates().filter(({ tools }) => [...tools.names()].length > 0)
  return [...new Set([...here.map(({ server }) => server.id), ...rows.map(({ server_id }) => server_id)])].sort()
}

/** Nothing is known of the tools of a server, or of any. */
export const nothingListed = (mcp: Mcp, server_id: string | undefined): GuardError =>
  new GuardError(
    mcpErrors.MCP_SERVER_NOT_FOUND,
    server_id === undefined
      ? 'No server has listed its tools yet. Let a client list them once, or list them: guard mcp draft --server-id <id> -- <command of the server>.'
      : `Nobody has listed the tools of "${server_id}" yet. Let a client list them once, or list them: guard mcp draft --server-id ${server_id} -- <command of the server>.`,
    { known: mcp.serverStates().map(({ server }) => server.id) },
  )

/** The definition of a tool as JSON, read back from the lines that are stored of it; a member that is not there to its end is left out. */
export const storedDefinition = (text: string): string => {
  const members = new Map<string, string[]>()
  let lines: string[] = []
  for (const line of text.split('\n')) {
    const [, key, first] = /^([A-Za-z_]+): ?(.*)$/s.exec(line) ?? []
    if (line.startsWith('  ')) lines.push(line.slice(2))
    else if (key !== undefined && first !== undefined) {
      lines = [first]
      members.set(key, lines)
    } else lines = []
  }
  const texts = ['title', 'description'].flatMap((key) => {
    const description = members.get(key)?.join('\n')
    return description === undefined ? [] : [[key, description] as const]
  })
  const objects = ['inputSchema', 'annotations'].flatMap((key) => {
    const value = objectOf(members.get(key)?.join('\n') ?? '')
    return value === undefined ? [] : [[key, value] as const]
  })
  return JSON.stringify(Object.fromEntries([...texts, ...objects]))
}

const objectOf = (json: string): unknown => {
  try {
    const value: unknown = JSON.parse(json)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
