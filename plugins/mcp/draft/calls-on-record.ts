import type { Gateway, Where } from 'guard-gateway/core'
import { escapeInvisible } from 'guard-gateway/lib/html'
import { pages } from 'guard-gateway/lib/paging'
import type { AuditRow } from '../audit/tables.ts'
import { ArgumentSource, type RecordedArguments } from '../simulate/recorded-arguments.ts'
import type { SeenCall, SeenServer, SeenTool } from './seen-calls.ts'

const MAX_ROWS = 20_000
const MAX_CALLS = 200
/** Calls whose arguments are looked for. */
const MAX_LOOKS = 2_000
/** Arguments that are longer make no test that somebody reads. */
const MAX_CHARS = 1_000

/** What the audit says of the calls of a server, newest first, and their arguments where they are on record. */
export const callsOnRecord = async (
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
  const shown = JSON.stringify(args)
  return text.length <= MAX_CHARS && escapeInvisible(shown) === shown && !/\\u(?:[0-9a-f]{4})/.test(shown)
}
