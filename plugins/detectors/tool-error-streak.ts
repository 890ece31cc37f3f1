import { detector, type Finding, type ToolCall, type Turn } from 'guard-gateway/core'
import {
  cachedToolMatcher,
  displayToolName,
  optionalFlag,
  ruleParams,
  toolNames,
  turnPlaces,
} from 'guard-gateway/lib/detection'

/** The same tool fails with the same error, one tool turn after another; whether it failed is what the result itself flags. */
export const toolErrorStreak = detector({
  id: 'tool_error_streak',
  code: 'LOOP_TOOL_ERROR',
  summary: 'A tool fails the same way again and again',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 4, window_size: 0 },
  unit: 'equal failures',
  params: ruleParams({
    reset_on_user_message: optionalFlag('A user message ends the streak; true unless set'),
    exempt_tools: toolNames('Tools whose calls are passed over; `*` stands for any characters'),
  }),
  reachable: ({ threshold }) => threshold <= 1000,

  detect({ rule, turns }): Finding | undefined {
    const last = turns.at(-1)
    if (last === undefined || last.user_after) return undefined
    const { exempt_tools, reset_on_user_message } = rule.params ?? {}
    const exempt = cachedToolMatcher(exempt_tools)
    const failures = new Failures()
    for (const call of failures.of(last)) {
      if (exempt(call.tool)) continue
      const { steps, equal } = streakOf(turns, call, exempt, reset_on_user_message !== false, failures)
      if (steps.length >= rule.threshold) return finding(call, steps, equal)
    }
  },
})

const finding = (call: ToolCall, steps: readonly number[], sameArguments: boolean): Finding => ({
  message: `${displayToolName(call.tool)} failed with the same error in ${steps.length} tool turns in a row`,
  evidence: 'history',
  count: steps.length,
  tool: call.tool,
  ...(sameArguments ? { key: call.key } : {}),
  where: turnPlaces(steps),
  results_equal: true,
})

/** Steps back to the turns of the streak, newest first, and whether all its calls had the same arguments. */
const streakOf = (
  turns: readonly Turn[],
  call: ToolCall,
  exempt: (tool: string) => boolean,
  reset: boolean,
  failures: Failures,
): { readonly steps: readonly number[]; readonly equal: boolean } => {
  const steps: number[] = []
  let equal = true
  for (let index = turns.length - 1; index >= 0; index--) {
    const turn = turns[index]
    if (turn === undefined || (reset && turn.user_after)) break
    if (turn.calls.every(({ tool }) => exempt(tool))) continue
    const failed = failures.like(turn, call)
    if (failed === undefined) break
    if (failed.key !== call.key) equal = false
    steps.push(turns.length - 1 - index)
  }
  return { steps, equal }
}

/** The failed calls of turns by tool and result: a turn may hold as many as fit into a body, and each is looked for in others. */
class Failures {
  readonly #known = new Map<Turn, ReadonlyMap<string, ToolCall>>()

  /** The first of each kind. */
  of(turn: Turn): Iterable<ToolCall> {
    return this.#in(turn).values()
  }

  /** The first of the same kind. */
  like(turn: Turn, call: ToolCall): ToolCall | undefined {
    return this.#in(turn).get(kindOf(call))
  }

  #in(turn: Turn): ReadonlyMap<string, ToolCall> {
    const known = this.#known.get(turn)
    if (known !== undefined) return known
    const kinds = new Map<string, ToolCall>()
    for (const call of turn.calls) {
      if (!call.error || call.result === null) continue
      const kind = kindOf(call)
      if (!kinds.has(kind)) kinds.set(kind, call)
    }
    this.#known.set(turn, kinds)
    return kinds
  }
}

const kindOf = ({ tool, result }: ToolCall): string => `${result} ${tool}`
