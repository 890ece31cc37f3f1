import type { Arguments, CheckContext } from 'guard-gateway/core'
import { pointerPart } from 'guard-gateway/lib/json'
import type { Exceeded, LimitUse } from '../actions/limits.ts'
import type { ToolCall } from '../judge/tool-call.ts'
import type { Opinion, RuleFinding } from '../judge/verdict.ts'
import { type CheckDeadline, findingsOf } from './checks.ts'
import type { CompiledRule } from './compiled.ts'
import { lookalike } from './lookalikes.ts'

/** What a rule that names the call's tool makes of the call. */
export interface RuleOpinion {
  readonly rule: CompiledRule
  readonly opinion: Opinion
}

/** The opinion of a rule about a call whose tool it names, at once where no check has to wait; undefined if its condition does not hold. */
export const ruleOpinion = (
  rule: CompiledRule,
  call: ToolCall,
  at: CheckContext,
  wait: CheckDeadline,
): RuleOpinion | undefined | Promise<RuleOpinion> => {
  const twin = lookalike(call.arguments, rule.named)
  if (twin !== undefined) {
    const reason = `looks like the argument "${twin.like}" and is another one`
    return denied(rule, { rule_id: rule.id, check: 'arguments', pointer: twin.pointer, reason, certain: true })
  }
  const fault = rule.when?.(call.arguments)
  if (fault?.certain === true) return undefined
  if (fault !== undefined) {
    return denied(rule, {
      rule_id: rule.id,
      check: 'when',
      pointer: fault.pointer,
      reason: fault.message,
      certain: false,
    })
  }
  const others = rule.document.only === undefined ? NOTHING : beyond(rule, rule.document.only, call.arguments)
  const findings = findingsOf(rule, call.arguments, at, wait)
  return findings instanceof Promise
    ? findings.then((found) => checked(rule, [...others, ...found]))
    : checked(rule, others.length === 0 ? findings : [...others, ...findings])
}

const NOTHING: readonly RuleFinding[] = []

/** Arguments beside those that a rule takes. */
const beyond = ({ id: rule_id }: CompiledRule, only: readonly string[], args: Arguments): readonly RuleFinding[] =>
  Object.keys(args)
    .filter((name) => !only.includes(name))
    .map((name) => ({
      ...{ rule_id, check: 'only', pointer: `/${pointerPart(name)}`, certain: true },
      reason: `is no argument that may be given; there is ${only.join(', ') || 'none'}`,
    }))

const checked = (rule: CompiledRule, findings: readonly RuleFinding[]): RuleOpinion => {
  const { action, on_violation = 'deny' } = rule.document
  if (findings.length > 0) return { rule, opinion: objecting(rule, on_violation, findings) }
  // Within its limit, such a rule allows; whether it is within is asked for all rules at once.
  return { rule, opinion: { rule_id: rule.id, action: action === 'rate_limit' ? 'allow' : action } }
}

const denied = (rule: CompiledRule, finding: RuleFinding): RuleOpinion => ({
  rule,
  opinion: objecting(rule, 'deny', [finding]),
})

const objecting = (rule: CompiledRule, action: Opinion['action'], findings: readonly RuleFinding[]): Opinion => {
  const [first] = findings
  const reason = first === undefined ? undefined : `${first.pointer} ${first.reason}`.trimStart()
  return { rule_id: rule.id, action, findings, ...(reason === undefined ? {} : { reason }) }
}

/** What the checks of rules that spoke find anew in arguments that were changed since, which denies; what they had found before has been heard. */
export const objections = async (
  voices: readonly RuleOpinion[],
  args: Arguments,
  at: CheckContext,
  wait: CheckDeadline,
): Promise<readonly RuleOpinion[]> => {
  const against: RuleOpinion[] = []
  for (const { rule, opinion } of voices) {
    if (wait.pace.due) await wait.pace.rest()
    const heard = new Set(opinion.findings?.map(placeOf))
    const findings = (await findingsOf(rule, args, at, wait)).filter((finding) => !heard.has(placeOf(finding)))
    if (findings.length > 0) against.push({ rule, opinion: objecting(rule, 'deny', findings) })
  }
  return against
}

const placeOf = ({ check, pointer }: RuleFinding): string => `${check} ${pointer}`

/** How the call meets the limits of rules that allow it. */
export const limitUses = (voices: readonly RuleOpinion[], call: ToolCall): readonly LimitUse[] =>
  voices.flatMap(({ rule: { id, limit }, opinion: { action } }): readonly LimitUse[] => {
    if (limit === undefined || action !== 'allow') return []
    const { calls, per_ms, key: kind } = limit
    return [{ rule_id: id, kind, key: keyOf(kind, call), calls, per_ms }]
  })

const keyOf = (kind: LimitUse['kind'], { session_id, server_id, tool }: ToolCall): string => {
  if (kind === 'session') return session_id
  return kind === 'server' ? server_id : `${server_id} ${tool}`
}

/** The voice of a rule whose limit has no room. */
export const overLimit = (voice: RuleOpinion, { wait_ms }: Exceeded): RuleOpinion => ({
  rule: voice.rule,
  opinion: {
    rule_id: voice.rule.id,
    action: 'rate_limit',
    limit: { text: voice.rule.limit?.text ?? '', retry_after_seconds: Math.ceil(wait_ms / 1000) },
  },
})
