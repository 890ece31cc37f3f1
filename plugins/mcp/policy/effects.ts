import type { Caller } from '../judge/tool-call.ts'
import type { Action, PartialVerdict } from '../judge/verdict.ts'
import type { CompiledPolicy, CompiledRule } from './compiled.ts'

/** What a tool's calls can count on before their arguments are known. */
export type Effect = 'allow' | 'deny' | 'confirm' | 'depends'

/** What the policy may say of calls of a tool, pins and other plugins apart; without a caller: of anybody's. */
export const outcomesOf = (
  policy: CompiledPolicy,
  server_id: string,
  tool: string,
  caller?: Caller,
): ReadonlySet<Action> => {
  const rules = policy.rules.filter(
    (rule) => rule.names(server_id, tool) && (caller === undefined || speaksTo(rule, caller)),
  )
  return combinedOutcomes(
    rules.map((rule) => possibleActions(rule, caller !== undefined)),
    policy.default,
  )
}

/** What comes of opinions of which each may be one of some; undefined for silence. */
export const combinedOutcomes = (
  opinions: readonly (readonly (Action | undefined)[])[],
  byDefault: Action,
): ReadonlySet<Action> => {
  let outcomes: ReadonlySet<Action | undefined> = new Set([undefined])
  for (const actions of opinions)
    outcomes = new Set([...outcomes].flatMap((so_far) => actions.map((next) => combined(so_far, next))))
  return new Set([...outcomes].map((outcome) => outcome ?? byDefault))
}

const combined = (one: Action | undefined, other: Action | undefined): Action | undefined => {
  if (one === undefined) return other
  return other === undefined ? one : stricter(one, other)
}

const speaksTo = (rule: CompiledRule, caller: Caller): boolean => rule.speaksTo?.(caller) ?? true

/** All that a rule may say; undefined where it may keep silent. `isAddressed`: it speaks to the caller, as far as that matters. */
export const possibleActions = (
  { document: { action, on_violation = 'deny', checks, only }, limit, when, speaksTo }: CompiledRule,
  isAddressed = false,
) => {
  const actions: (Action | undefined)[] = limit === undefined ? [action] : ['allow', 'rate_limit']
  if (checks !== undefined || only !== undefined) actions.push(on_violation)
  if (when !== undefined || (speaksTo !== undefined && !isAddressed)) actions.push(undefined)
  return actions
}

const effectOfAction = (action: Action): Effect => {
  if (action === 'deny' || action === 'confirm') return action
  return action === 'rate_limit' ? 'depends' : 'allow'
}

/** One word for what may happen to calls of a tool. `pinned`: what the pin of its definition adds. */
export const effectOf = (policy: CompiledPolicy, server_id: string, tool: string, pinned?: Action): Effect => {
  const outcomes = [...outcomesOf(policy, server_id, tool)]
  const effects = outcomes.map((outcome) => effectOfAction(pinned === undefined ? outcome : stricter(outcome, pinned)))
  const [first = 'depends', ...others] = new Set(effects)
  return others.length === 0 ? first : 'depends'
}

/** The tools that leave the list of a caller: denied by name, whatever the arguments. */
export const hiddenTools = (policy: CompiledPolicy, server_id: string, caller: Caller): ReadonlySet<string> => {
  if (policy.mode === 'shadow' || !policy.hide_denied_tools) return new Set()
  const rules = policy.rules.filter(
    (rule) => rule.document.action === 'deny' && rule.when === undefined && speaksTo(rule, caller),
  )
  const exact = rules.flatMap((rule) =>
    rule.document.tools.filter((tool) => !tool.includes('*') && rule.names(server_id, tool)),
  )
  return new Set(exact)
}

const order: readonly Action[] = ['allow', 'shadow_deny', 'transform', 'confirm', 'rate_limit', 'deny']

/** The larger, the stricter. */
export const strictness = (action: Action): number => order.indexOf(action)

export const stricter = (one: Action, other: Action): Action => (strictness(other) > strictness(one) ? other : one)

/** The strictest action of some opinions, and whose it is; there is at least one opinion. */
export const strictest = (
  opinions: readonly PartialVerdict[],
): { action: Action; winners: readonly PartialVerdict[] } => {
  const action = opinions.reduce<Action>((so_far, opinion) => stricter(so_far, opinion.action), 'allow')
  return { action, winners: opinions.filter((opinion) => opinion.action === action) }
}
