import type { Redactor } from 'guard-gateway/core'
import { MemoryLimits } from '../actions/limits.ts'
import type { AuditRow } from '../audit/tables.ts'
import type { ToolCall } from '../judge/tool-call.ts'
import type { Action, PartialVerdict } from '../judge/verdict.ts'
import type { CompiledPolicy, CompiledRule } from '../policy/compiled.ts'
import { combinedOutcomes } from '../policy/effects.ts'
import { judge } from '../policy/judge.ts'
import { limitUses } from '../policy/rule-verdict.ts'
import type { ArgumentSource, RecordedArguments } from './recorded-arguments.ts'
import { callerOf, isAddressed } from './recorded-caller.ts'
import { opinionsOnRecord, type RecordedPolicies, type RecordedPolicy } from './recorded-opinions.ts'

/** What a policy says of a call on record: one action, or those that it may be, as the arguments are. */
export interface JudgedAgain {
  readonly actions: readonly Action[]
  /** The rules that say so, or may. */
  readonly rule_ids: readonly string[]
  /** The arguments are on record, but something in them is hidden. */
  readonly isRedacted: boolean
}

export interface JudgeAgainParts {
  readonly policy: CompiledPolicy
  readonly redact: Redactor
  readonly source: ArgumentSource
  readonly policies: RecordedPolicies
  /** Folder of a server's process, where it is known. */
  readonly cwd: (server_id: string) => string | undefined
}

/** Judges calls on record, oldest first: limits count what came before. Nothing is stored or forwarded. */
export class JudgeAgain {
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
