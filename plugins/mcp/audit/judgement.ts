import type { Caller } from '../judge/tool-call.ts'
import type { RuleFinding, Verdict } from '../judge/verdict.ts'
import type { JudgedAction, PinState, ReasonCode, SchemaState } from './enums.ts'

/** A `tools/call` as the audit knows it, before it is judged. */
export interface CallFacts {
  readonly tool: string
  /** Source text of the JSON-RPC id. */
  readonly request_id: string
  readonly argument_hash: string
  /** UTF-8 bytes of the arguments as they came. */
  readonly argument_bytes: number
  readonly schema: SchemaState
  readonly pin: PinState
  readonly tool_fingerprint: string | null
  /** The id that the model gave the call; null where its client does not pass it on. */
  readonly tool_call_id: string | null
}

/** What was decided about a call, and what happens to it. */
export interface Judgement {
  readonly action: JudgedAction
  readonly mode: 'enforce' | 'shadow'
  readonly forwarded: boolean
  /** One sentence for people; arguments in it show at most 200 characters. */
  readonly reason: string | null
  readonly rule_ids: readonly string[]
  readonly findings: readonly RuleFinding[]
  readonly policy_version: string | null
  /** Where rules about the tool name callers. */
  readonly caller?: Caller
  /** Where a transform changed what is forwarded. */
  readonly sent_argument_hash?: string
  /** A person said no to this call. */
  readonly denied_by_user?: boolean
  /** What the caller belongs to is paused. */
  readonly paused?: ReasonCode & `PAUSED_${string}`
}

/** The part of a judgement that the policy gives. */
export const fromVerdict = ({ action, mode, winners, findings, policy_version, caller, recorded }: Verdict) => {
  const stated = recorded ?? { reason: winners.find(({ reason }) => reason !== undefined)?.reason, findings }
  return {
    action,
    mode,
    reason: stated.reason ?? stated.findings[0]?.reason ?? null,
    rule_ids: winners.map(({ rule_id }) => rule_id),
    findings: stated.findings,
    policy_version,
    ...(caller === undefined ? {} : { caller }),
  }
}

/** The policy is not asked: arguments that do not fit, or a caller that is paused. */
export const unjudged = (
  action: 'invalid' | 'refused',
  reason: string,
  policy: { readonly mode: Judgement['mode']; readonly version: string },
): Judgement => ({
  action,
  mode: policy.mode,
  forwarded: false,
  reason,
  rule_ids: [],
  findings: [],
  policy_version: policy.version,
})

const codes: Readonly<Record<JudgedAction, ReasonCode | null>> = {
  allow: null,
  transform: null,
  shadow_deny: 'MCP_DENIED',
  deny: 'MCP_DENIED',
  refused: 'MCP_DENIED',
  rate_limit: 'MCP_RATE_LIMIT',
  confirm: 'MCP_CONFIRM',
  invalid: 'MCP_INVALID_ARGUMENTS',
}

/** Why a call was not simply forwarded; null for one that was. */
export const reasonCode = ({ action, rule_ids, denied_by_user, paused }: Judgement): ReasonCode | null => {
  if (paused !== undefined) return paused
  if (denied_by_user === true) return 'MCP_DENIED'
  const stops = action === 'confirm' || action === 'deny'
  return stops && rule_ids.includes('pin') ? 'MCP_PIN_CHANGED' : codes[action]
}
