import type { Gateway, Redactor, Where } from 'guard-gateway/core'
import { isJsonObject } from '#lib/json'
import { pages } from '#lib/paging'
import { Pace } from '#lib/time-slice'
import { canonicalJson } from '#lib/trace'
import { MemoryLimits } from '../actions/limits.ts'
import { MAX_FINDINGS } from '../audit/limits.ts'
import type { AuditRow } from '../audit/tables.ts'
import type { ToolCall } from '../judge/tool-call.ts'
import type { Action, PartialVerdict } from '../judge/verdict.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compiled.ts'
import type { RuleDocument } from '../policy/document.ts'
import { combinedOutcomes, possibleActions, strictness } from '../policy/effects.ts'
import { judge } from '../policy/judge.ts'
import { limitUses } from '../policy/rule-verdict.ts'
import { ArgumentSource, type RecordedArguments } from './recorded-arguments.ts'
import { callerOf, isAddressed } from './recorded-caller.ts'

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

/** What a policy says of a call on record: one action, or those that it may be, as the arguments are. */
interface JudgedAgain {
  readonly actions: readonly Action[]
  /** The rules that say so, or may. */
  readonly rule_ids: readonly string[]
  /** The arguments are on record, but something in them is hidden. */
  readonly isRedacted: boolean
}

interface JudgeAgainParts {
  readonly policy: CompiledPolicy
  readonly redact: Redactor
  readonly source: ArgumentSource
  readonly policies: RecordedPolicies
  /** Folder of a server's process, where it is known. */
  readonly cwd: (server_id: string) => string | undefined
}

/** Judges calls on record, oldest first: limits count what came before. Nothing is stored or forwarded. */
class JudgeAgain {
  readonly #parts: JudgeAgainParts
  readonly #limits: MemoryLimits
  readonly #rules = new Map<string, readonly CompiledRule[]>()
  #at = 0

  constructor(parts: JudgeAgainParts) {
    this.#parts = parts
    this.#limits = new MemoryLimits(() => this.#at)
  }

  async judge(row: AuditRow): Promise<JudgedAgain> {
    this.#at = row.at
    const { policy, redact, source, policies } = this.#parts
    const addressed = new Map(this.#rulesFor(row).map((rule) => [rule, isAddressed(rule, row)]))
    const rules = [...addressed].filter(([, speaks]) => speaks !== false).map(([rule]) => rule)
    const before = await policies.of(row.policy_version)
    const more = othersOf(policy, row, before)
    const known = await source.of(row)
    const call = this.#callOf(row, known)
    if (known?.isExact === true && rules.every((rule) => addressed.get(rule) === true)) {
      const { action, winners } = await judge(policy, call, more, { rules, limits: this.#limits, redact })
      return { actions: [action], rule_ids: winners.map(({ rule_id }) => rule_id), isRedacted: false }
    }
    const opinions = await Promise.all(
      rules.map(async (rule) => {
        const actions = opinionsOnRecord(rule, row, before, addressed.get(rule) === true)
        return { id: rule.id, actions: await this.#withinLimit(rule, actions, call) }
      }),
    )
    const stated = [...opinions, ...more.map(({ rule_id: id, action }) => ({ id, actions: [action] as const }))]
    const isSilent = stated.every(({ actions }) => actions.includes(undefined))
    const actions = [
      ...combinedOutcomes(
        stated.map((one) => one.actions),
        policy.default,
      ),
    ]
    if (row.forwarded === true) await this.#count(rules, call)
    const saying = stated.filter((one) =>
      one.actions.some((action) => action !== undefined && actions.includes(action)),
    )
    const rule_ids = [...saying.map(({ id }) => id), ...(isSilent ? ['default'] : [])]
    return { actions, rule_ids, isRedacted: known?.isExact === false }
  }

  async #withinLimit(rule: CompiledRule, actions: readonly (Action | undefined)[], call: ToolCall) {
    if (rule.limit === undefined) return actions
    const isOver = (await this.#limits.exceeded(usesOf(rule, call))).length > 0
    return actions.filter((action) => action !== (isOver ? 'allow' : 'rate_limit'))
  }

  /** A call that was let through then counts, as nobody knows what would have become of it. */
  async #count(rules: readonly CompiledRule[], call: ToolCall): Promise<void> {
    const uses = rules.flatMap((rule) => usesOf(rule, call))
    if (uses.length > 0) await this.#limits.take(uses)
  }

  #rulesFor({ server_id, tool }: AuditRow): readonly CompiledRule[] {
    const key = JSON.stringify([server_id, tool])
    const found =
      this.#rules.get(key) ?? this.#parts.policy.rules.filter((rule) => rule.names(server_id ?? '', tool ?? ''))
    this.#rules.set(key, found)
    return found
  }

  #callOf(row: AuditRow, known: RecordedArguments | undefined): ToolCall {
    const { server_id, session_id, tool, at } = row
    return {
      caller: callerOf(row),
      ...{ server_id: server_id ?? '', session_id: session_id ?? '', tool: tool ?? '', at },
      arguments: known?.arguments ?? {},
      text: known?.text ?? '{}',
      cwd: this.#parts.cwd(server_id ?? ''),
    }
  }
}

const usesOf = (rule: CompiledRule, call: ToolCall) =>
  limitUses([{ rule, opinion: { rule_id: rule.id, action: 'allow' } }], call)

/** What pins and plugins say: pins by the policy, plugins as they did then. */
const othersOf = (
  policy: CompiledPolicy,
  { pin, rule_ids, action }: AuditRow,
  before: RecordedPolicy | undefined,
): readonly PartialVerdict[] => {
  const { pinning } = policy
  const isOther = (pin === 'new' || pin === 'changed') && (pinning === 'confirm' || pinning === 'deny')
  const ofPlugins =
    before === undefined || action === null || action === 'invalid' || action === 'refused'
      ? []
      : (rule_ids ?? [])
          .filter((id) => id !== 'default' && id !== 'pin' && !before.rules.has(id))
          .map((rule_id) => ({ rule_id, action }))
  return [...(isOther ? [{ rule_id: 'pin', action: pinning }] : []), ...ofPlugins]
}

/** A policy that was in force, as far as rules of another are compared with its own. */
interface RecordedPolicy {
  /** Each rule as one text, by its id. */
  readonly rules: ReadonlyMap<string, string>
  /** Some rule changes arguments: what is on record may be about the changed ones. */
  readonly transforms: boolean
}

/** Policies by their version, read once. */
class RecordedPolicies {
  readonly #gateway: Gateway
  readonly #known = new Map<string, Promise<RecordedPolicy | undefined>>()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Undefined for one that is not kept. */
  of(version: string | null): Promise<RecordedPolicy | undefined> {
    if (version === null) return Promise.resolve(undefined)
    const known = this.#known.get(version) ?? this.#read(version)
    this.#known.set(version, known)
    return known
  }

  async #read(version: string): Promise<RecordedPolicy | undefined> {
    const row = await this.#gateway.storage.get('mcp_policies', version)
    if (row === undefined) return undefined
    const document: unknown = JSON.parse(row.text)
    const rules = isJsonObject(document) && Array.isArray(document.rules) ? (document.rules as RuleDocument[]) : []
    return {
      rules: new Map(rules.map((rule) => [rule.id, canonicalJson(rule)])),
      transforms: rules.some(({ action }) => action === 'transform'),
    }
  }
}

/** All that a rule may say of a call whose arguments or caller are not known: less, where the same rule has judged that call. */
const opinionsOnRecord = (
  rule: CompiledRule,
  row: AuditRow,
  before: RecordedPolicy | undefined,
  isAddressed: boolean,
): readonly (Action | undefined)[] => {
  const possible = possibleActions(rule, isAddressed)
  const isSame = before?.transforms === false && before.rules.get(rule.id) === canonicalJson(rule.document)
  // a limit counts calls, and what was counted then says nothing of now
  if (!isSame || rule.limit !== undefined) return possible
  const recorded = recordedActions(rule, row, isAddressed)
  return recorded === undefined ? possible : [...recorded]
}

/** What the record tells of a rule that was in force as it is; undefined: nothing. */
const recordedActions = (
  { id, document, when }: CompiledRule,
  { rule_ids, findings, action }: AuditRow,
  isAddressed: boolean,
): ReadonlySet<Action | undefined> | undefined => {
  const found = (findings ?? []).filter(({ rule_id }) => rule_id === id)
  if (found.length > 0) {
    const isOdd = found.some(({ check }) => check === 'arguments' || check === 'when')
    return new Set([isOdd ? 'deny' : (document.on_violation ?? 'deny')])
  }
  // beyond so many none is kept
  if ((findings?.length ?? 0) >= MAX_FINDINGS) return undefined
  if ((when === undefined && isAddressed) || rule_ids?.includes(id) === true) return new Set([document.action])
  const recordedAction = judgedBy(action)
  const hadWon = recordedAction !== undefined && strictness(document.action) >= strictness(recordedAction)
  return new Set(hadWon ? [undefined] : [document.action, undefined])
}

const judgedBy = (action: AuditRow['action']): Action | undefined =>
  action === null || action === 'invalid' || action === 'refused' ? undefined : action
