import { pointerPart } from '#lib/json'
import { foldName } from '#lib/json-rpc'
import type { Arguments, CheckContext } from '#lib/mcp-check'
import type { Segments } from '../actions/changes.ts'
import type { Exceeded, LimitUse } from '../actions/limits.ts'
import { nobody, type ToolCall } from '../judge/tool-call.ts'
import type { PartialVerdict, RuleFinding } from '../judge/verdict.ts'
import { callerKey } from './callers.ts'
import { type CheckDeadline, findingsOf } from './checks.ts'
import type { CompiledRule } from './compiled.ts'

/** A rule that names the call's tool, and its opinion about the call. */
export interface RuleVerdict {
  readonly rule: CompiledRule
  readonly opinion: PartialVerdict
}

/** The opinion of a rule about a call whose tool it names, at once where no check has to wait; undefined if its condition does not hold. */
export const ruleVerdict = (
  rule: CompiledRule,
  call: ToolCall,
  at: CheckContext,
  wait: CheckDeadline,
): RuleVerdict | undefined | Promise<RuleVerdict> => {
  if (rule.speaksTo !== undefined && !rule.speaksTo(call.caller ?? nobody)) return undefined
  const similar = lookalike(call.arguments, rule.named)
  if (similar !== undefined) {
    const reason = `looks like the argument "${similar.similar_to}" and is another one`
    return denied(rule, { rule_id: rule.id, check: 'arguments', pointer: similar.pointer, reason, certain: true })
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
  const others =
    rule.document.only === undefined ? NOTHING : unlistedArguments(rule, rule.document.only, call.arguments)
  const findings = findingsOf(rule, call.arguments, at, wait)
  return findings instanceof Promise
    ? findings.then((found) => afterChecks(rule, [...others, ...found]))
    : afterChecks(rule, others.length === 0 ? findings : [...others, ...findings])
}

const NOTHING: readonly RuleFinding[] = []

/** Findings for arguments that `only` does not list. */
const unlistedArguments = (
  { id: rule_id }: CompiledRule,
  only: readonly string[],
  args: Arguments,
): readonly RuleFinding[] =>
  Object.keys(args)
    .filter((name) => !only.includes(name))
    .map((name) => ({
      ...{ rule_id, check: 'only', pointer: `/${pointerPart(name)}`, certain: true },
      reason: `is no argument that may be given; there is ${only.join(', ') || 'none'}`,
    }))

const afterChecks = (rule: CompiledRule, findings: readonly RuleFinding[]): RuleVerdict => {
  const { action, on_violation = 'deny' } = rule.document
  if (findings.length > 0) return { rule, opinion: violation(rule, on_violation, findings) }
  // Within its limit, such a rule allows; whether it is within is asked for all rules at once.
  return { rule, opinion: { rule_id: rule.id, action: action === 'rate_limit' ? 'allow' : action } }
}

const denied = (rule: CompiledRule, finding: RuleFinding): RuleVerdict => ({
  rule,
  opinion: violation(rule, 'deny', [finding]),
})

export const placedReason = ({ pointer, reason }: RuleFinding): string => `${pointer} ${reason}`.trimStart()

const violation = (
  rule: CompiledRule,
  action: PartialVerdict['action'],
  findings: readonly RuleFinding[],
): PartialVerdict => {
  const [first] = findings
  const reason = first && placedReason(first)
  return { rule_id: rule.id, action, findings, ...(reason === undefined ? {} : { reason }) }
}

/** New findings of the rules' checks in changed arguments, each of which denies. Places that had findings before do not count again. */
export const violations = async (
  voices: readonly RuleVerdict[],
  args: Arguments,
  at: CheckContext,
  wait: CheckDeadline,
): Promise<readonly RuleVerdict[]> => {
  const against: RuleVerdict[] = []
  for (const { rule, opinion } of voices) {
    if (wait.pace.due) await wait.pace.rest()
    const knownPlaces = new Set(opinion.findings?.map(pointerText))
    const findings = (await findingsOf(rule, args, at, wait)).filter(
      (finding) => !knownPlaces.has(pointerText(finding)),
    )
    if (findings.length > 0) against.push({ rule, opinion: violation(rule, 'deny', findings) })
  }
  return against
}

const pointerText = ({ check, pointer }: RuleFinding): string => `${check} ${pointer}`

/** Limits that the call uses, of rules that allow it. */
export const limitUses = (voices: readonly RuleVerdict[], call: ToolCall): readonly LimitUse[] =>
  voices.flatMap(({ rule: { id, limit }, opinion: { action } }): readonly LimitUse[] => {
    if (limit === undefined || action !== 'allow') return []
    const { calls, per_ms, key: kind } = limit
    return [{ rule_id: id, kind, key: keyOf(kind, call), calls, per_ms }]
  })

const keyOf = (kind: LimitUse['kind'], { session_id, server_id, tool, caller = nobody }: ToolCall): string => {
  if (kind === 'session') return session_id
  if (kind === 'server') return server_id
  return kind === 'tool' ? `${server_id} ${tool}` : callerKey(kind, caller)
}

/** The opinion of a rule whose limit is reached. */
export const overLimit = (voice: RuleVerdict, { wait_ms }: Exceeded): RuleVerdict => ({
  rule: voice.rule,
  opinion: {
    rule_id: voice.rule.id,
    action: 'rate_limit',
    limit: { text: voice.rule.limit?.text ?? '', retry_after_seconds: Math.ceil(wait_ms / 1000) },
  },
})

/** An argument key that a lax server might take for one the rule names, and the one it looks like. */
interface Lookalike {
  /** JSON pointer into the arguments. */
  readonly pointer: string
  readonly similar_to: string
}

/** The first key in the arguments that looks like one of `named`, at its place, without being equal to it; whether that one is there or not. */
const lookalike = (args: Arguments, named: readonly Segments[]): Lookalike | undefined => {
  for (const segments of named) {
    const found = similarKey(args, segments, 0, '')
    if (found !== undefined) return found
  }
  return undefined
}

const similarKey = (value: unknown, segments: Segments, depth: number, pointer: string): Lookalike | undefined => {
  const name = segments[depth]
  if (name === undefined || typeof value !== 'object' || value === null) return undefined
  const keys = Object.keys(value)
  const similar = Array.isArray(value) || name === '*' ? undefined : lookalikeOf(keys, name)
  if (similar !== undefined) return { pointer: `${pointer}/${pointerPart(similar)}`, similar_to: name }
  if (depth === segments.length - 1) return undefined
  for (const key of keys) {
    if (key !== name && name !== '*') continue
    const found = similarKey((value as Arguments)[key], segments, depth + 1, `${pointer}/${pointerPart(key)}`)
    if (found !== undefined) return found
  }
  return undefined
}

const lookalikeOf = (keys: readonly string[], name: string): string | undefined => {
  const folded = foldName(name)
  return keys.find((key) => key !== name && foldName(key) === folded)
}
