import type { Storage } from 'guard-gateway/core'
import type { SearchHit, SearchSource } from '#lib/page'
import type { AuditRow } from '../audit/tables.ts'
import type { PageParts } from './types.ts'

const AUDIT = 'aud_'
/** The id of a call's record ends like the id of its request. */
const REQUEST = 'guardreq_'

/** Finds approvals, calls, MCP sessions and servers by id, and tools by name. */
export const mcpSource = ({ mcp: { gateway } }: PageParts): SearchSource => ({
  id: 'mcp',
  order: 40,
  takes: 'ids of approvals, MCP calls, sessions and servers, names of tools',
  find: async (text) => {
    const { storage } = gateway
    const query = encodeURIComponent(text)
    const [approval, call, session, names] = await Promise.all([
      storage.get('mcp_approvals', text),
      storage.get('mcp_audit', text.startsWith(REQUEST) ? AUDIT + text.slice(REQUEST.length) : text),
      storage.find('mcp_audit', { where: { session_id: text }, limit: 1 }),
      namesLike(storage, text),
    ])
    return [
      ...(approval === undefined
        ? []
        : [hit('approval', text, `/approvals/${query}`, `${approval.tool} on ${approval.server_id}`)]),
      ...(call === undefined ? [] : [callHit(call)]),
      ...(session.rows.length === 0 ? [] : [hit('MCP session', text, `/mcp?session_id=${query}#decisions`)]),
      ...(names.isServer ? [hit('MCP server', text, `/mcp#server-${query}`)] : []),
      ...(names.isTool ? [hit('MCP tool', text, `/mcp?tool=${query}#decisions`, 'its calls')] : []),
    ]
  },
})

/** Whether a server or a tool has this name: a listed one, or one that was called, since clients call tools that they have not listed. */
const namesLike = async (storage: Storage, text: string) => {
  const [listed, called, ofServer] = await Promise.all([
    storage.find('mcp_tools', { limit: MAX_TOOLS }),
    storage.find('mcp_audit', { where: { tool: text }, limit: 1 }),
    storage.find('mcp_audit', { where: { server_id: text }, limit: 1 }),
  ])
  return {
    isServer: ofServer.rows.length > 0 || listed.rows.some(({ server_id }) => server_id === text),
    isTool: called.rows.length > 0 || listed.rows.some(({ tool }) => tool === text),
  }
}

const MAX_TOOLS = 5_000

const hit = (kind: string, title: string, url: string, note?: string): SearchHit => ({
  kind,
  title,
  url,
  ...(note === undefined ? {} : { note }),
})

/** A call is shown by its span in Replay; one without a run among the decisions of its session. */
const callHit = ({ id, trace_id, span_id, session_id, tool, server_id }: AuditRow): SearchHit => {
  const inSession = `/mcp?kind=all&session_id=${encodeURIComponent(session_id ?? '')}#audit-${id}`
  const span = span_id === null ? '' : encodeURIComponent(span_id)
  const run = trace_id === null ? inSession : `/replay/${encodeURIComponent(trace_id)}`
  const url = trace_id === null || span === '' ? run : `${run}?span=${span}#span-${span}`
  return hit('MCP call', id, url, [tool, server_id].filter((part) => part !== null).join(' on '))
}
