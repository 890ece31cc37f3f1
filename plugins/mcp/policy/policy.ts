import type { Redactor } from 'guard-gateway/core'
import type { Limits } from '../actions/limits.ts'
import type { PinState } from '../audit/enums.ts'
import { type Caller, nobody, type ToolCall } from '../judge/tool-call.ts'
import type { PartialVerdict, Verdict } from '../judge/verdict.ts'
import { audienceOf } from './callers.ts'
import type { CompiledPolicy, CompiledRule } from './compiled.ts'
import type { PolicyDocument } from './document.ts'
import { type Effect, effectOf, hiddenTools, outcomesOf } from './effects.ts'
import { type JudgedTool, judge, limitUsesOf } from './judge.ts'
import { type MethodVerdict, methodVerdicts } from './methods.ts'

/** A policy in force. It never changes; a reload makes another one. */
export interface Policy {
  /** Hex SHA-256 of the canonical document with its variables filled in. */
  readonly version: string
  readonly mode: 'enforce' | 'shadow'
  readonly pinning: 'off' | 'warn' | 'confirm' | 'deny'
  /** The policy as read, with its variables filled in. */
  readonly document: PolicyDocument
  /** Some call may have to wait for a person. */
  readonly asks: boolean
  /** A text that is the same for callers to whom the same rules speak; what follows is the same for them. */
  audience(caller: Caller): string
  /** Tells whether a tool leaves the list that a caller gets of this server. */
  hidden(server_id: string, caller?: Caller): (tool: string) => boolean
  canConfirm(server_id: string, tool: string, caller?: Caller): boolean
  /** What it says of a tool whose definition compares like that with the trusted one; undefined: nothing. */
  ofPin(pin: PinState): 'confirm' | 'deny' | undefined
  /** What calls of a tool can count on as long as its definition is like that. */
  effect(server_id: string, tool: string, pin: PinState): Effect
  /**
   * Judges a call; `more` are opinions of pins and plugins.
   * A call that the verdict lets through is counted against the limits of its rules. Rejects only where storage fails.
   */
  judge(call: ToolCall, more: readonly PartialVerdict[], tool?: JudgedTool): Promise<Verdict>
  /** What it says of a request that is no call of a tool. `within`: of a server's, while it works on a request that was let through. */
  request(method: string, within: boolean): MethodVerdict
  /** Counts a call that a person allowed; gives the opinion of a limit that is reached meanwhile. */
  take(call: ToolCall): Promise<PartialVerdict | undefined>
}

/** Pairs of server and tool whose rules are cached. */
const MAX_KNOWN = 4096

/** Answers of `canConfirm` that are cached: as many as a server may list tools. */
const MAX_ANSWERS = 10_000

/** Puts a compiled policy into force. */
export const makePolicy = (compiled: CompiledPolicy, limits: Limits, redact: Redactor): Policy => {
  const known = new Map<string, readonly CompiledRule[]>()
  const hidden = new Map<string, ReadonlySet<string>>()
  const asking = new Map<string, boolean>()

  const rulesFor = (server_id: string, tool: string): readonly CompiledRule[] => {
    const key = `${server_id}\0${tool}`
    const cached = known.get(key)
    if (cached !== undefined) return cached
    const rules = compiled.rules.filter((rule) => rule.names(server_id, tool))
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(key, rules)
    return rules
  }
  const ofPin = (pin: PinState): 'confirm' | 'deny' | undefined => {
    const { pinning } = compiled
    return (pin === 'new' || pin === 'changed') && (pinning === 'confirm' || pinning === 'deny') ? pinning : undefined
  }
  const enforces = compiled.mode === 'enforce'
  const pinned = compiled.pinning === 'confirm'
  const addressing = compiled.rules.filter(({ speaksTo }) => speaksTo !== undefined)
  const audience = (caller: Caller): string => (addressing.length === 0 ? '' : audienceOf(addressing, caller))
  const mayConfirm = (server_id: string, tool: string, caller: Caller): boolean => {
    const outcomes = outcomesOf(compiled, server_id, tool, caller)
    return outcomes.has('confirm') || (pinned && [...outcomes].some((outcome) => outcome !== 'deny'))
  }

  return {
    version: compiled.version,
    mode: compiled.mode,
    pinning: compiled.pinning,
    document: compiled.document,
    asks:
      enforces && (pinned || compiled.default === 'confirm' || compiled.rules.some(mayAsk) || asksOfMethods(compiled)),
    audience,
    hidden(server_id, caller = nobody) {
      const key = `${audience(caller)} ${server_id}`
      const tools = hidden.get(key) ?? hiddenTools(compiled, server_id, caller)
      if (hidden.size >= MAX_KNOWN) hidden.clear()
      hidden.set(key, tools)
      return (tool) => tools.has(tool)
    },
    canConfirm(server_id, tool, caller = nobody) {
      if (!enforces) return false
      // asked about every tool of every list
      const key = `${audience(caller)} ${server_id}\0${tool}`
      const known = asking.get(key)
      if (known !== undefined) return known
      const canConfirm = mayConfirm(server_id, tool, caller)
      if (asking.size >= MAX_ANSWERS) asking.clear()
      asking.set(key, canConfirm)
      return canConfirm
    },
    ofPin,
    effect: (server_id, tool, pin) => effectOf(compiled, server_id, tool, ofPin(pin)),
    judge: (call, more, tool) =>
      judge(compiled, call, more, { ...tool, rules: rulesFor(call.server_id, call.tool), limits, redact }),
    request: methodVerdicts(compiled.document.methods ?? {}, compiled.default),
    async take(call) {
      const uses = await limitUsesOf(call, rulesFor(call.server_id, call.tool), compiled.own_files)
      const lost = uses.length === 0 ? undefined : await limits.take(uses)
      if (lost === undefined) return undefined
      const { use, wait_ms } = lost
      const text = compiled.rules.find(({ id }) => id === use.rule_id)?.limit?.text ?? ''
      const limit = { text, retry_after_seconds: Math.ceil(wait_ms / 1000) }
      return { rule_id: use.rule_id, action: 'rate_limit', limit }
    },
  }
}

const asksOfMethods = ({ document: { methods = {} } }: CompiledPolicy): boolean =>
  Object.values(methods).includes('confirm')

const mayAsk = ({ document: { action, checks, only, on_violation } }: CompiledRule): boolean =>
  action === 'confirm' || ((checks !== undefined || only !== undefined) && on_violation === 'confirm')
