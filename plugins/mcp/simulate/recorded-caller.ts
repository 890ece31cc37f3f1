import type { AuditRow } from '../audit/tables.ts'
import type { Caller } from '../judge/tool-call.ts'
import { callerTest } from '../policy/callers.ts'
import type { CompiledRule } from '../policy/compiled.ts'

/** Who made a call, as far as it is on record: agent and project are always. */
export const callerOf = ({ caller, agent_id, project_id }: AuditRow): Caller =>
  caller ?? { agent: agent_id, project: project_id, session: null, client: null, key: [] }

/** Whether a rule speaks to who made a call; undefined where that is not on record. */
export const isAddressed = ({ speaksTo, document }: CompiledRule, row: AuditRow): boolean | undefined => {
  if (speaksTo === undefined) return true
  const caller = callerOf(row)
  if (row.caller !== null) return speaksTo(caller)
  const { agents, projects, sessions, clients, keys } = document.when ?? {}
  const known = { ...(agents === undefined ? {} : { agents }), ...(projects === undefined ? {} : { projects }) }
  if (callerTest(known)?.(caller) === false) return false
  return [sessions, clients, keys].every((list) => list === undefined) ? true : undefined
}
