import type { ResultAction } from '../results/recorded-finding.ts'

/** What a person writes as the action of a rule, or as the answer to the call of a test. */
export type RuleAction = 'allow' | 'deny' | 'confirm' | 'transform' | 'rate_limit' | 'shadow_deny'

/** One change of a `transform`: exactly one member is there. Keys of maps are JSON pointers into the arguments. */
export interface ChangeDocument {
  readonly remove?: string
  readonly set?: Readonly<Record<string, unknown>>
  readonly clamp?: Readonly<Record<string, { readonly min?: number; readonly max?: number }>>
  readonly redact?: { readonly pointer: string; readonly pattern: string; readonly with: string }
}

export type LimitKey = 'session' | 'server' | 'tool' | 'agent' | 'project' | 'client' | 'key'

export interface LimitDocument {
  readonly calls: number
  /** A number and `ms`, `s`, `m`, `h` or `d`. */
  readonly per: string
  readonly key?: LimitKey
}

/** When a rule speaks: all that is given must hold. The lists hold names or patterns. */
export interface ConditionDocument {
  readonly arguments?: object
  readonly agents?: readonly string[]
  readonly projects?: readonly string[]
  readonly sessions?: readonly string[]
  readonly clients?: readonly string[]
  readonly keys?: readonly string[]
}

/** One member: the id of a check of results with its options, and what follows from what it finds; `shadow` if not said. */
export type ResultDocument = Readonly<Record<string, { readonly action?: ResultAction }>>

export interface RuleDocument {
  readonly id: string
  readonly description?: string
  readonly enabled?: boolean
  readonly tools: readonly string[]
  readonly servers?: readonly string[]
  readonly when?: ConditionDocument
  /** Names of the only arguments that a call may have. */
  readonly only?: readonly string[]
  readonly action: RuleAction
  /** Each holds one member: the id of a check with its options. */
  readonly checks?: readonly Readonly<Record<string, unknown>>[]
  readonly on_violation?: 'deny' | 'confirm' | 'shadow_deny'
  /** Checks of the results of calls that the rule speaks to. */
  readonly results?: readonly ResultDocument[]
  readonly message?: string
  readonly limit?: LimitDocument
  readonly transform?: { readonly arguments: readonly ChangeDocument[] }
}

export interface TestDocument {
  readonly name?: string
  readonly call: {
    readonly server?: string
    readonly tool: string
    readonly arguments?: Readonly<Record<string, unknown>>
    readonly agent?: string
    readonly project?: string
    readonly session?: string
    readonly client?: string
    /** Id or name. */
    readonly key?: string
  }
  readonly repeat?: number
  readonly expect: RuleAction
  readonly rule?: string
  readonly sends?: Readonly<Record<string, unknown>>
}

/** A policy as its file has it, once the schema has accepted it. */
export interface PolicyDocument {
  readonly version: 1
  readonly description?: string
  readonly mode?: 'enforce' | 'shadow'
  readonly default?: 'allow' | 'confirm' | 'deny'
  readonly hide_denied_tools?: boolean
  readonly pinning?: 'off' | 'warn' | 'confirm' | 'deny'
  /** What becomes of requests that are no calls of tools, by method; `other`: of those that are not named. */
  readonly methods?: Readonly<Record<string, 'allow' | 'confirm' | 'deny'>>
  readonly vars?: Readonly<Record<string, string>>
  /** Checks of the results of all calls. */
  readonly results?: readonly ResultDocument[]
  readonly rules: readonly RuleDocument[]
  readonly tests?: readonly TestDocument[]
}
