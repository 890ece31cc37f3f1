import type { Gateway } from 'guard-gateway/core'
import { MemoryLimits } from '../actions/limits.ts'
import { nobody, type ToolCall } from '../judge/tool-call.ts'
import type { Action, RuleFinding, Verdict } from '../judge/verdict.ts'
import { checkDeadline } from './checks.ts'
import type { CompiledPolicy, CompiledRule } from './compiled.ts'
import { checkContext, judge } from './judge.ts'
import { displayReason } from './message.ts'
import { ruleVerdict } from './rule-verdict.ts'

/** What one rule makes of a call. */
export interface RuleAccount {
  readonly rule_id: string
  readonly speaks: boolean
  /** Why the rule keeps silent, or what made it say what it says. */
  readonly why: string
  /** Null where the rule keeps silent. */
  readonly action: Action | null
  readonly wins: boolean
  readonly findings: readonly RuleFinding[]
}

/** What would happen to a call, rule by rule in file order. */
export interface Explanation {
  readonly verdict: Verdict
  /** False: the client would get the reason. */
  readonly forwarded: boolean
  readonly rules: readonly RuleAccount[]
}

/** Judges a call without counting or storing anything, and accounts for each rule. */
export const explainCall = async (gateway: Gateway, policy: CompiledPolicy, call: ToolCall): Promise<Explanation> => {
  const { redact } = gateway
  const rules = policy.rules.filter((rule) => rule.names(call.server_id, call.tool))
  // what looks at results is no part of what is told of a call
  const { results: _results, ...verdict } = await judge(policy, call, [], {
    ...{ rules, limits: new MemoryLimits(() => call.at), redact },
  })
  const winners = new Set(verdict.winners.map(({ rule_id }) => rule_id))
  const accounts: RuleAccount[] = []
  const wait = checkDeadline()
  for (const document of policy.document.rules) {
    const rule = policy.rules.find(({ id }) => id === document.id)
    const account =
      rule === undefined ? silent(document.id, 'is not enabled') : await accountOf(rule, policy, call, wait)
    const findings = account.findings.map((one) => ({ ...one, reason: displayReason(one.reason, redact) }))
    accounts.push({ ...account, why: displayReason(account.why, redact), findings, wins: winners.has(document.id) })
  }
  wait.end()
  const passes = !['deny', 'rate_limit', 'confirm'].includes(verdict.action)
  return { verdict, forwarded: passes || verdict.mode === 'shadow', rules: accounts }
}

const silent = (rule_id: string, why: string): RuleAccount => ({
  rule_id,
  speaks: false,
  why,
  action: null,
  wins: false,
  findings: [],
})

const accountOf = async (
  rule: CompiledRule,
  { own_files }: CompiledPolicy,
  call: ToolCall,
  wait: ReturnType<typeof checkDeadline>,
): Promise<RuleAccount> => {
  if (!rule.names(call.server_id, call.tool)) return silent(rule.id, 'names another tool or server')
  if (rule.speaksTo?.(call.caller ?? nobody) === false) return silent(rule.id, 'is for other callers')
  const voice = await ruleVerdict(rule, call, checkContext(call, own_files), wait)
  if (voice === undefined) return silent(rule.id, 'its condition does not hold')
  const { action, findings = [], reason } = voice.opinion
  return { rule_id: rule.id, speaks: true, why: reason ?? plainly(rule), action, wins: false, findings }
}

const plainly = ({ checks, limit, document: { only } }: CompiledRule): string => {
  if (limit !== undefined) return `allows ${limit.text}`
  if (checks.length > 0) return 'its checks pass'
  return only === undefined ? 'has no checks' : 'has no checks, and the call no argument beside those it takes'
}
