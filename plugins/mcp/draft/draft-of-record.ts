import type { Where } from 'guard-gateway/core'
import type { AuditRow } from '../audit/tables.ts'
import { eventWhere } from '../management/queries.ts'
import type { Mcp } from '../mcp.ts'
import { callsOnRecord } from './calls-on-record.ts'
import { type Draft, draftPolicy } from './draft.ts'
import { nothingListed, serversOnRecord, toolsOnRecord } from './tools-on-record.ts'

/** What is asked for: one server, or every one whose tools are on record; calls since then, an age or a time. */
export interface DraftQuery {
  readonly server_id?: string | undefined
  readonly since?: string | undefined
}

/** Drafts a policy from the tools that servers have listed and the calls that are on record. Throws MCP_SERVER_NOT_FOUND where nothing is listed, and INVALID_FILTER. */
export const draftOfRecord = async (mcp: Mcp, { server_id, since }: DraftQuery): Promise<Draft> => {
  const { gateway, options } = mcp
  const at: Where<AuditRow>['at'] = since === undefined ? undefined : eventWhere({ since }, gateway.clock.now()).at
  const ids = server_id === undefined ? await serversOnRecord(mcp) : [server_id]
  const servers = []
  for (const id of ids) {
    const tools = await toolsOnRecord(mcp, id)
    if (tools.length > 0) servers.push({ id, tools, seen: await callsOnRecord(gateway, id, at) })
  }
  if (servers.length === 0) throw nothingListed(mcp, server_id)
  const { env, own_files = [] } = options
  return draftPolicy(
    gateway,
    { servers, since },
    { ...(env === undefined ? {} : { env }), own_files: [...gateway.ownFiles, ...own_files] },
  )
}
