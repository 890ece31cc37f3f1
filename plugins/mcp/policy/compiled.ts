import type { CheckLint, McpCheck, McpResultCheck } from '#lib/mcp-check'
import type { Segments } from '../actions/changes.ts'
import type { Change } from '../actions/transform.ts'
import type { Caller } from '../judge/tool-call.ts'
import type { ResultAction } from '../results/recorded-finding.ts'
import type { SchemaFault } from '../schemas/compile.ts'
import type { LimitKey, PolicyDocument, RuleDocument } from './document.ts'

/** A check of a rule with its options as `find` gets them. */
export interface CompiledCheck {
  readonly check: McpCheck
  readonly options: unknown
  /** Position in the rule's `checks`. */
  readonly index: number
  readonly lints: readonly CheckLint[]
}

/** A check of results with its options as `find` gets them, and what follows from what it finds. */
export interface CompiledResultCheck {
  readonly check: McpResultCheck
  readonly options: unknown
  readonly action: ResultAction
  /** `results` for the checks of the whole policy. */
  readonly rule_id: string
  /** Position in its list. */
  readonly index: number
  readonly lints: readonly CheckLint[]
}

/** A limit in numbers, and in the words of an answer. */
export interface CompiledLimit {
  readonly calls: number
  readonly per_ms: number
  readonly key: LimitKey
  /** `10 calls per 60s`. */
  readonly text: string
}

/** A rule ready to judge calls. */
export interface CompiledRule {
  readonly document: RuleDocument
  /** Position in the policy's `rules`. */
  readonly index: number
  readonly id: string
  readonly names: (server_id: string, tool: string) => boolean
  /** Undefined: to everybody. */
  readonly speaksTo: ((caller: Caller) => boolean) | undefined
  readonly when: ((args: unknown) => SchemaFault | undefined) | undefined
  readonly checks: readonly CompiledCheck[]
  readonly results: readonly CompiledResultCheck[]
  readonly limit: CompiledLimit | undefined
  readonly changes: readonly Change[]
  /** The argument keys that the rule names, as pointers. */
  readonly named: readonly Segments[]
}

/** A policy ready to judge calls. */
export interface CompiledPolicy {
  readonly document: PolicyDocument
  /** Hex SHA-256 of the canonical document with its variables filled in. */
  readonly version: string
  readonly mode: 'enforce' | 'shadow'
  readonly default: 'allow' | 'confirm' | 'deny'
  readonly pinning: 'off' | 'warn' | 'confirm' | 'deny'
  readonly hide_denied_tools: boolean
  /** The enabled ones, in file order. */
  readonly rules: readonly CompiledRule[]
  /** Checks of the results of all calls. */
  readonly results: readonly CompiledResultCheck[]
  /** Files of the gateway itself, absolute. */
  readonly own_files: readonly string[]
}
