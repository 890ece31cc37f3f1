import type { CheckFinding } from '#lib/mcp-check'
import type { CompiledResultCheck } from '../policy/compiled.ts'
import type { Caller } from './tool-call.ts'

/** From the weakest to the strictest; `rate_limit` is one that is exceeded. */
export type Action = 'allow' | 'shadow_deny' | 'transform' | 'confirm' | 'rate_limit' | 'deny'

/** What a check found, and for which rule. */
export interface RuleFinding extends CheckFinding {
  readonly rule_id: string
  readonly check: string
}

/** What one rule, pin or plugin, or the policy's default, says about a call. */
export interface PartialVerdict {
  /** `default` for the policy's default, `pin` for a changed definition. */
  readonly rule_id: string
  readonly action: Action
  /** Ends the sentence `Denied by rule 'x': …`. */
  readonly reason?: string
  readonly findings?: readonly RuleFinding[]
  /** The rule's own words for client and approver, filled in and redacted. */
  readonly message?: string
  /** For `rate_limit`: the text after `Rate limit of rule 'x' reached: `, and whole seconds until a call fits again. */
  readonly limit?: { readonly text: string; readonly retry_after_seconds: number }
}

/** What the policy says of a call. */
export interface Verdict {
  readonly action: Action
  /** `shadow`: the call is forwarded unchanged whatever `action` says. */
  readonly mode: 'enforce' | 'shadow'
  /** The opinions whose action is `action`, in file order. */
  readonly winners: readonly PartialVerdict[]
  /** Findings of every rule that names the tool, those of winners first. */
  readonly findings: readonly RuleFinding[]
  /** What records say of it, where they keep no content: nothing that whoever made the call chose. */
  readonly recorded?: { readonly reason: string | undefined; readonly findings: readonly RuleFinding[] }
  /** The arguments to forward where a transform changed them: their source text with only the changed members spliced, and the parsed form. */
  readonly sent?: { readonly text: string; readonly arguments: Readonly<Record<string, unknown>> }
  /** Checks of what comes back, where there are some. */
  readonly results?: readonly CompiledResultCheck[]
  /** Who made the call, where rules about its tool name callers or limit them. */
  readonly caller?: Caller
  /** Hex SHA-256 of the canonical policy. */
  readonly policy_version: string
}
