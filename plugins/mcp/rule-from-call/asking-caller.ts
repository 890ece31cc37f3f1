import type { Gateway } from 'guard-gateway/core'
import type { ApprovalRow } from '../approvals/index.ts'
import type { Caller } from '../judge/caller.ts'
import { callerLists } from '../policy/callers.ts'
import type { PolicyDocument, TestDocument } from '../policy/document.ts'
import { callerOf } from '../simulate/recorded-caller.ts'

const MAX_ROWS = 100

/** Who made the call that a person was asked about, as far as it is on record. */
export const callerOnRecord = async ({ storage }: Gateway, row: ApprovalRow): Promise<Caller> => {
  const { id, trace_id, client, project_id: project } = row
  const { rows } = await storage.find('mcp_audit', { where: { trace_id, kind: 'decision' }, limit: MAX_ROWS })
  const asked = rows.find(({ approval_id }) => approval_id === id)
  if (asked !== undefined) return callerOf(asked)
  return { agent: null, project, session: null, client: client?.name ?? null, key: [] }
}

/** What a test of the policy says of a caller: all that rules of the policy name. */
export const namedIn = ({ rules }: PolicyDocument, caller: Caller): Partial<TestDocument['call']> => {
  const named = callerLists.filter((list) => rules.some(({ when }) => when?.[list] !== undefined))
  const { agent, project, session, client, key } = caller
  const known = { agents: agent, projects: project, sessions: session, clients: client, keys: key.at(-1) ?? null }
  return Object.fromEntries(
    named.flatMap((list) => (known[list] === null ? [] : [[list.slice(0, -1), known[list]] as const])),
  )
}
