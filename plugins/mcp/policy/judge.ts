import type { Redactor } from 'guard-gateway/core'
import type { Arguments, CheckContext } from '#lib/mcp-check'
import { quoted } from '#lib/text'
import type { Exceeded, Limits, LimitUse } from '../actions/limits.ts'
import { type Changed, transformed } from '../actions/transform.ts'
import { nobody, type ToolCall } from '../judge/tool-call.ts'
import type { Action, PartialVerdict, RuleFinding, Verdict } from '../judge/verdict.ts'
import { recordedFinding } from '../schemas/error-text.ts'
import { dependsOnCaller } from './callers.ts'
import { type CheckDeadline, checkDeadline } from './checks.ts'
import type { CompiledPolicy, CompiledResultCheck, CompiledRule } from './compiled.ts'
import { strictest } from './effects.ts'
import { displayReason, filledMessage } from './message.ts'
import { limitUses, overLimit, placedReason, type RuleVerdict, ruleVerdict, violations } from './rule-verdict.ts'

/** What the tool of a call says. */
export interface JudgedTool {
  /** Validates arguments that a transform has changed by its schema: what is wrong, or undefined. */
  readonly validate?: (args: Arguments) => string | undefined
  /** Names that it holds, where records keep no others. */
  readonly shown?: (() => ReadonlySet<string>) | undefined
}

/** The context of a judgement besides the policy and the call. */
export interface JudgeContext extends JudgedTool {
  readonly rules: readonly CompiledRule[]
  readonly limits: Limits
  readonly redact: Redactor
}

const forwards: ReadonlySet<Action> = new Set(['allow', 'shadow_deny', 'transform'])

/** Judges a call: every rule that names its tool, `more` opinions, the limits; the strictest wins. Counts a call that is let through. Never throws for what a check does. */
export const judge = async (
  policy: CompiledPolicy,
  call: ToolCall,
  more: readonly PartialVerdict[],
  context: JudgeContext,
): Promise<Verdict> => {
  const at = checkContext(call, policy.own_files)
  const wait = checkDeadline()
  try {
    const all = await ruleVerdicts(context.rules, call, at, wait)
    const uses = limitUses(all, call)
    const voices = uses.length === 0 ? all : withExceeded(all, await context.limits.exceeded(uses))
    const first = verdictOf(policy, call, voices, more)
    const changed = changesOf(policy, call, voices, first)
    const against = changed === undefined ? [] : await violationsOfChanged(changed, voices, at, wait, context)
    const verdict = against.length === 0 ? first : verdictOf(policy, call, [...voices, ...against], more)
    const sent = against.length === 0 ? changed : undefined
    const spent = forwards.has(verdict.action) ? limitUses(voices, call) : []
    // another call may have used up the limit meanwhile
    const lost = spent.length === 0 ? undefined : await context.limits.take(spent)
    const last = lost === undefined ? verdict : verdictOf(policy, call, withExceeded(voices, [lost]), more)
    const whole = withResults(withCaller(last, call, context), policy, voices)
    return redacted(whole, sent, call, voices, context)
  } finally {
    wait.end()
  }
}

const withCaller = (verdict: Verdict, { caller = nobody }: ToolCall, { rules }: JudgeContext): Verdict =>
  rules.some(dependsOnCaller) ? { ...verdict, caller } : verdict

/** Checks of results are those of the policy and of all rules that spoke. */
const withResults = (verdict: Verdict, policy: CompiledPolicy, voices: readonly RuleVerdict[]): Verdict => {
  const more = voices.some(({ rule }) => rule.results.length > 0)
    ? voices.flatMap(({ rule }) => rule.results)
    : NO_CHECKS
  return policy.results.length + more.length === 0 ? verdict : { ...verdict, results: [...policy.results, ...more] }
}

const NO_CHECKS: readonly CompiledResultCheck[] = []

/** What checks may know of a call besides its arguments. */
export const checkContext = ({ server_id, tool, cwd }: ToolCall, own_files: readonly string[]): CheckContext => ({
  server_id,
  tool,
  cwd,
  own_files,
})

const ruleVerdicts = async (
  rules: readonly CompiledRule[],
  call: ToolCall,
  at: CheckContext,
  wait: CheckDeadline,
): Promise<readonly RuleVerdict[]> => {
  const voices: RuleVerdict[] = []
  for (const rule of rules) {
    if (rule !== rules[0] && wait.pace.due) await wait.pace.rest()
    const spoken = ruleVerdict(rule, call, at, wait)
    const voice = spoken instanceof Promise ? await spoken : spoken
    if (voice !== undefined) voices.push(voice)
  }
  return voices
}

const withExceeded = (voices: readonly RuleVerdict[], exceeded: readonly Exceeded[]): readonly RuleVerdict[] =>
  voices.map((voice) => {
    const found = exceeded.find(({ use }) => use.rule_id === voice.rule.id)
    return found === undefined ? voice : overLimit(voice, found)
  })

const verdictOf = (
  policy: CompiledPolicy,
  call: ToolCall,
  voices: readonly RuleVerdict[],
  more: readonly PartialVerdict[],
): Verdict => {
  const stated = voices.length === 0 ? [byDefault(policy, call)] : voices.map(({ opinion }) => opinion)
  const opinions = more.length === 0 ? stated : [...stated, ...more]
  const { action, winners } = strictest(opinions)
  const findings = opinions.some((opinion) => opinion.findings !== undefined) ? findingsIn(opinions, winners) : NOTHING
  return { action, mode: policy.mode, winners, findings, policy_version: policy.version }
}

const NOTHING: readonly RuleFinding[] = []

/** Those of the winners first. */
const findingsIn = (opinions: readonly PartialVerdict[], winners: readonly PartialVerdict[]): readonly RuleFinding[] =>
  [...winners, ...opinions.filter((opinion) => !winners.includes(opinion))].flatMap(({ findings = [] }) => findings)

const byDefault = (policy: CompiledPolicy, { tool }: ToolCall): PartialVerdict => ({
  rule_id: 'default',
  action: policy.default,
  ...(policy.default === 'deny' ? { reason: `no rule matches this call of ${quoted(tool, 128)}` } : {}),
})

/** A question shows the changed arguments too, since those are what a yes sends. */
const changesOf = (
  { mode }: CompiledPolicy,
  call: ToolCall,
  voices: readonly RuleVerdict[],
  { action }: Verdict,
): Changed | undefined => {
  if (mode === 'shadow' || (action !== 'transform' && action !== 'confirm')) return undefined
  const changes = voices.flatMap(({ rule, opinion }) => (opinion.action === 'transform' ? rule.changes : []))
  return changes.length === 0 ? undefined : transformed(call.text, changes)
}

const violationsOfChanged = async (
  changed: Changed,
  voices: readonly RuleVerdict[],
  at: CheckContext,
  wait: CheckDeadline,
  { validate }: JudgeContext,
): Promise<readonly RuleVerdict[]> => {
  const against = await violations(voices, changed.arguments, at, wait)
  const fault = validate?.(changed.arguments)
  const changer = voices.find(({ opinion }) => opinion.action === 'transform')
  if (fault === undefined || changer === undefined) return against
  const reason = `the changed arguments are invalid: ${fault}`
  return [...against, { rule: changer.rule, opinion: { rule_id: changer.rule.id, action: 'deny', reason } }]
}

/** The verdict with what it says of arguments redacted and shortened. */
const redacted = (
  verdict: Verdict,
  sent: Changed | undefined,
  call: ToolCall,
  voices: readonly RuleVerdict[],
  { redact, rules, shown }: JudgeContext,
): Verdict => {
  const messageOf = ({ message, rule_id }: PartialVerdict): string | undefined =>
    message ?? voices.find(({ rule }) => rule.id === rule_id)?.rule.document.message
  const passes = sent !== undefined && (verdict.action === 'transform' || verdict.action === 'confirm')
  const hasNoTexts =
    verdict.findings.length === 0 && verdict.winners.every((one) => hasNoText(one) && messageOf(one) === undefined)
  if (hasNoTexts && !passes) return verdict
  const text = sent?.text ?? call.text
  const winners = verdict.winners.map((opinion): PartialVerdict => {
    const message = messageOf(opinion)
    return {
      ...opinion,
      ...(opinion.reason === undefined ? {} : { reason: displayReason(opinion.reason, redact) }),
      ...(opinion.findings === undefined ? {} : { findings: opinion.findings.map((one) => cleaned(one, redact)) }),
      ...(message === undefined ? {} : { message: filledMessage(message, text, redact) }),
    }
  })
  const recorded =
    shown && recordedIn(verdict, call.arguments, new Set([...shown(), ...rules.flatMap(wordsOf)]), redact)
  return {
    ...verdict,
    winners,
    findings: verdict.findings.map((one) => cleaned(one, redact)),
    ...(recorded && { recorded }),
    ...(passes ? { sent } : {}),
  }
}

/** What a policy says itself may be shown. */
const wordsOf = ({ document }: CompiledRule): readonly string[] =>
  JSON.stringify(document).match(/[\p{L}\p{N}_.-]+/gu) ?? []

const recordedIn = (
  { winners, findings }: Verdict,
  args: Arguments,
  names: ReadonlySet<string>,
  redact: Redactor,
): NonNullable<Verdict['recorded']> => {
  const reasons = winners.flatMap(({ reason, findings: [first] = [] }) => {
    if (first !== undefined) return placedReason(recordedFinding(first, names, args))
    return reason === undefined ? [] : recordedFinding({ pointer: '', reason }, names, args).reason
  })
  const [reason] = reasons
  const shown = findings.map((one) => cleaned(recordedFinding(one, names, args), redact))
  return { reason: reason && displayReason(reason, redact), findings: shown }
}

const cleaned = (finding: RuleFinding, redact: Redactor): RuleFinding => ({
  ...finding,
  pointer: displayReason(finding.pointer, redact),
  reason: displayReason(finding.reason, redact),
})

const hasNoText = ({ reason, findings }: PartialVerdict): boolean => reason === undefined && findings === undefined

/** Limits that a call uses which a person allowed. */
export const limitUsesOf = async (
  call: ToolCall,
  rules: readonly CompiledRule[],
  own_files: readonly string[],
): Promise<readonly LimitUse[]> => {
  const limiting = rules.filter((rule) => rule.limit !== undefined)
  const wait = checkDeadline()
  try {
    return limitUses(await ruleVerdicts(limiting, call, checkContext(call, own_files), wait), call)
  } finally {
    wait.end()
  }
}
