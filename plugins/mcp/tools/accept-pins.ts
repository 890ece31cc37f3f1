import { GuardError } from 'guard-gateway/core'
import { mcpErrors } from '../error-codes.ts'
import type { Mcp } from '../mcp.ts'
import { Pins } from './index.ts'

/**
 * Trusts the definitions of a server's tools as they stand, also of one that another process runs on the same storage.
 * Gives the names of those that were not trusted before. `fingerprints`: fingerprints, or how they start, of what a person has examined.
 * Throws MCP_SERVER_NOT_FOUND, and VERSION_CONFLICT if one of the definitions is another by now; then none is trusted.
 */
export const acceptPins = async (
  mcp: Mcp,
  server_id: string,
  tools: readonly string[] | 'all',
  fingerprints?: readonly string[],
): Promise<readonly string[]> => {
  const state = mcp.serverState(server_id)
  if (state === undefined) {
    const { rows } = await mcp.gateway.storage.find('mcp_tools', { where: { server_id }, limit: 1 })
    const known = mcp.serverStates().map(({ server }) => server.id)
    if (rows.length === 0) throw new GuardError(mcpErrors.MCP_SERVER_NOT_FOUND, undefined, { known })
  }
  const accepted = await (state === undefined
    ? new Pins(mcp.gateway, mcp.audit, server_id).acceptStored(tools, fingerprints)
    : state.tools.accept(tools, fingerprints))
  const details = { tools: accepted }
  await mcp.gateway.service('audit').get()?.note({ action: 'pins.accepted', subject: server_id, details })
  return accepted
}
