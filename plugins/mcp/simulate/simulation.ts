import type { Gateway, Where } from 'guard-gateway/core'
import { pages } from 'guard-gateway/lib/paging'
import { Pace } from 'guard-gateway/lib/time-slice'
import type { AuditRow } from '../audit/tables.ts'
import type { Action } from '../judge/verdict.ts'
import type { CompiledPolicy } from '../policy/compiled.ts'
import { strictness } from '../policy/strictness.ts'
import { JudgeAgain, type JudgedAgain } from './judge-again.ts'
import { ArgumentSource } from './recorded-arguments.ts'
import { RecordedPolicies } from './recorded-opinions.ts'

/** A call on record as an example. Times are milliseconds since 1970. */
export interface SimulatedCall {
  readonly id: string
  readonly at: number
  readonly trace_id: string | null
  readonly span_id: string | null
}

/** Calls of one tool of which the same was said, and would be. */
export interface SimulatedGroup {
  readonly server_id: string
  readonly tool: string
  readonly was: Action
  /** One action; or those that it may be, as the arguments are, which are not on record. */
  readonly would_be: readonly Action[]
  readonly was_rule_ids: readonly string[]
  readonly rule_ids: readonly string[]
  readonly calls: number
  /** Those that were let through then, as by a person. */
  readonly forwarded: number
  /** Those whose arguments are on record with something hidden. */
  readonly redacted: number
  /** The newest ones. */
  readonly examples: readonly SimulatedCall[]
}

/** What a policy would have said of the calls on record. */
export interface McpSimulation {
  readonly policy_version: string
  readonly mode: 'enforce' | 'shadow'
  readonly calls: number
  /** Not judged by a policy then: arguments that do not fit, frames that cannot be read, callers that are paused. */
  readonly unjudged: number
  readonly same: number
  readonly differ: number
  /** Of those: what would be stricter, and what would be looser. */
  readonly stricter: number
  readonly looser: number
  readonly depends: number
  /** There is more on record than is looked at: the newest calls were. */
  readonly truncated: boolean
  readonly changes: readonly SimulatedGroup[]
  readonly unknown: readonly SimulatedGroup[]
}

const MAX_CALLS = 20_000
const MAX_GROUPS = 200
const MAX_EXAMPLES = 3

/** Judges what is on record anew. `where`: which of it; `cwd`: the folder of a server's process. */
export const simulate = async (
  gateway: Gateway,
  policy: CompiledPolicy,
  where: Where<AuditRow>,
  cwd: (server_id: string) => string | undefined,
): Promise<McpSimulation> => {
  const { rows, truncated } = await newest(gateway, where)
  const { redact } = gateway
  const source = new ArgumentSource(gateway)
  const again = new JudgeAgain({ policy, redact, source, policies: new RecordedPolicies(gateway), cwd })
  const groups = new Groups()
  const pace = new Pace()
  let unjudged = 0
  for (const row of rows) {
    if (pace.due) await pace.rest()
    const { action: was } = row
    if (was === null || was === 'invalid' || was === 'refused') unjudged++
    else groups.add(row, was, await again.judge(row))
  }
  const { version: policy_version, mode } = policy
  return { policy_version, mode, calls: rows.length - unjudged, unjudged, truncated, ...groups.result() }
}

/** The newest calls, oldest first. */
const newest = async (gateway: Gateway, where: Where<AuditRow>) => {
  const rows: AuditRow[] = []
  const query = { where: { ...where, kind: 'decision' as const }, order: ['at', 'desc'] as const }
  for await (const page of pages(gateway.storage, 'mcp_audit', query)) {
    rows.push(...page.slice(0, MAX_CALLS + 1 - rows.length))
    if (rows.length > MAX_CALLS) break
  }
  return { rows: rows.slice(0, MAX_CALLS).toReversed(), truncated: rows.length > MAX_CALLS }
}

/** Counts what differs by tool, what was said and what would be. */
class Groups {
  readonly #groups = new Map<string, SimulatedGroup>()
  #same = 0

  add(row: AuditRow, was: Action, { actions, rule_ids, isRedacted }: JudgedAgain): void {
    if (actions.length === 1 && actions[0] === was) {
      this.#same++
      return
    }
    const would_be = actions.toSorted((one, other) => strictness(one) - strictness(other))
    const key = JSON.stringify([row.server_id, row.tool, was, would_be, row.rule_ids, rule_ids])
    const { id, at, trace_id, span_id, forwarded } = row
    const before = this.#groups.get(key)
    this.#groups.set(key, {
      ...{ server_id: row.server_id ?? '', tool: row.tool ?? '', was, would_be },
      ...{ was_rule_ids: row.rule_ids ?? [], rule_ids },
      calls: (before?.calls ?? 0) + 1,
      forwarded: (before?.forwarded ?? 0) + (forwarded === true ? 1 : 0),
      redacted: (before?.redacted ?? 0) + (isRedacted ? 1 : 0),
      examples: [{ id, at, trace_id, span_id }, ...(before?.examples ?? [])].slice(0, MAX_EXAMPLES),
    })
  }

  result() {
    const all = [...this.#groups.values()].toSorted((one, other) => other.calls - one.calls)
    const changes = all.filter(({ was, would_be }) => !would_be.includes(was))
    const unknown = all.filter(({ was, would_be }) => would_be.includes(was))
    const stricter = changes.filter(({ was, would_be }) => strictness(would_be[0] ?? was) > strictness(was))
    const looser = changes.filter(({ was, would_be }) => strictness(would_be.at(-1) ?? was) < strictness(was))
    return {
      ...{ same: this.#same, differ: sum(changes), stricter: sum(stricter), looser: sum(looser) },
      depends: sum(unknown),
      changes: changes.slice(0, MAX_GROUPS),
      unknown: unknown.slice(0, MAX_GROUPS),
    }
  }
}

const sum = (groups: readonly SimulatedGroup[]): number => groups.reduce((total, { calls }) => total + calls, 0)
