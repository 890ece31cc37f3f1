import type { Gateway, Where } from 'guard-gateway/core'
import { escapeInvisible } from '#lib/html'
import { pages } from '#lib/paging'
import type { AuditRow } from '../audit/tables.ts'
import { eventWhere } from '../management/queries.ts'
import type { Mcp } from '../mcp.ts'
import { ArgumentSource, type RecordedArguments } from '../simulate/recorded-arguments.ts'
import { type Draft, draftPolicy } from './draft.ts'
import type { SeenCall, SeenServer, SeenTool } from './seen-calls.ts'
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

const MAX_ROWS = 20_000
const MAX_CALLS = 200
/** Calls whose arguments are looked for. */
const MAX_LOOKS = 2_000
/** Arguments that are longer make no test that somebody reads. */
const MAX_CHARS = 1_000

/** What the audit says of the calls of a server, newest first, and their arguments where they are on record. */
const callsOnRecord = async (
  gateway: Gateway,
  server_id: string,
  since: Where<AuditRow>['at'],
): Promise<SeenServer> => {
  const tools = new Map<string, SeenTool>()
  const calls = new Map<string, SeenCall>()
  const source = new ArgumentSource(gateway)
  const looked = new Set<string>()
  const where: Where<AuditRow> = { kind: 'decision', server_id, ...(since === undefined ? {} : { at: since }) }
  let left = MAX_ROWS
  for await (const rows of pages(gateway.storage, 'mcp_audit', { where, order: ['at', 'desc'] })) {
    for (const row of rows.slice(0, left)) {
      if (row.tool === null || row.action === 'invalid' || row.action === 'refused') continue
      tools.set(row.tool, counted(tools.get(row.tool), row))
      await addCall(calls, row, row.tool, source, looked)
    }
    left -= rows.length
    if (left <= 0) break
  }
  return { tools, calls: [...calls.values()] }
}

const counted = (before: SeenTool = { calls: 0, forwarded: 0 }, { forwarded }: AuditRow): SeenTool => ({
  calls: before.calls + 1,
  forwarded: before.forwarded + (forwarded === true ? 1 : 0),
})

const addCall = async (
  calls: Map<string, SeenCall>,
  row: AuditRow,
  tool: string,
  source: ArgumentSource,
  looked: Set<string>,
): Promise<void> => {
  const key = `${row.argument_hash} ${tool}`
  const before = calls.get(key)
  const forwarded = row.forwarded === true
  if (before !== undefined) {
    calls.set(key, { ...before, count: before.count + 1, forwarded: before.forwarded || forwarded })
    return
  }
  if (calls.size >= MAX_CALLS || looked.size >= MAX_LOOKS || looked.has(key)) return
  const found = await source.of(row)
  looked.add(key)
  if (found === undefined || !isShowable(found)) return
  calls.set(key, { tool, arguments: found.arguments, forwarded, count: 1 })
}

/** Short, and nothing in it is hidden or looks like something else: it goes into a file that a person reads. */
const isShowable = ({ text, arguments: args }: RecordedArguments): boolean => {
  const json = JSON.stringify(args)
  return text.length <= MAX_CHARS && escapeInvisible(json) === json && !/\\u(?:[0-9a-f]{4})/.test(json)
}
