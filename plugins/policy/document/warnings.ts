import type { Detector, Gateway, Mode, Registry, Rule } from 'guard-gateway/core'
import type { CallRecord } from '#lib/trace'
import { isUnpriced } from '../history/settle.ts'
import { defaultEnforced } from './default-enforced.ts'

/** Something in a policy that works, but probably not as intended. */
export interface Warning {
  readonly code:
    | 'NO_EVALUATOR'
    | 'UNREACHABLE'
    | 'UNKNOWN_ACTION'
    | 'BUDGET_BEFORE_LOOP'
    | 'UNPRICED'
    | 'DEFAULT_ENFORCED'
  /** Empty: it is about the policy. */
  readonly rule_id: string
  /** JSON pointer. */
  readonly path: string
  readonly message: string
}

/** The input of warnings in addition to the policy. */
export interface WarningContext {
  readonly gateway: Gateway
  readonly presets: Readonly<Record<string, readonly Rule[]>>
  /** Mode of policies that name none. */
  default_mode(): Mode
}

/** The warnings about a project's policy. */
export const warningsOf = async (
  {
    project_id,
    mode,
    rules,
  }: { readonly project_id: string; readonly mode: Mode | null; readonly rules: readonly Rule[] },
  { gateway, presets, default_mode }: WarningContext,
): Promise<Warning[]> => {
  const { detectors } = gateway
  const lastLoop = rules.findLastIndex((rule) => rule.enabled && detectors.get(rule.rule_type)?.kind === 'loop')
  const priced = rules.some((rule) => rule.enabled && detectors.get(rule.rule_type)?.needs === 'prices')
  const unpriced = priced ? await missingPrices(gateway, project_id) : null
  const message = defaultEnforced(mode ?? default_mode(), rules, presets)
  const ofMode: Warning[] =
    message === undefined ? [] : [{ code: 'DEFAULT_ENFORCED', rule_id: '', path: '/mode', message }]
  return [
    ...ofMode,
    ...rules.flatMap((rule, index) => warningsOfRule(rule, `/rules/${index}`, index < lastLoop, unpriced, detectors)),
  ]
}

const actions: readonly string[] = ['block', 'flag', 'pause', 'steer']

const warningsOfRule = (
  rule: Rule,
  path: string,
  beforeLoop: boolean,
  unpriced: string | null,
  detectors: Registry<Detector>,
): Warning[] => {
  const { id: rule_id, rule_type, threshold, window_size, action } = rule
  const detector = detectors.get(rule_type)
  if (detector === undefined) {
    const message = `"${rule_type}" has no detector: the rule is stored and does nothing. There is ${detectors.ids().join(', ') || 'none'}.`
    return [{ code: 'NO_EVALUATOR', rule_id, path: `${path}/rule_type`, message }]
  }
  const warnings: Warning[] = []
  if (detector.reachable?.(rule) === false) {
    const message = `A threshold of ${threshold} cannot be reached within a window of ${window_size}: the rule never matches.`
    warnings.push({ code: 'UNREACHABLE', rule_id, path: `${path}/threshold`, message })
  }
  if (!actions.includes(action)) {
    const message = `"${action}" is no action: the rule flags in enforce mode, too. There is ${actions.join(', ')}.`
    warnings.push({ code: 'UNKNOWN_ACTION', rule_id, path: `${path}/action`, message })
  }
  if (rule.enabled && beforeLoop && detector.kind === 'budget') {
    const message =
      'The budget stands above a loop rule, so that it is reported where both match. Put loop rules first.'
    warnings.push({ code: 'BUDGET_BEFORE_LOOP', rule_id, path, message })
  }
  if (rule.enabled && unpriced !== null && detector.needs === 'prices')
    warnings.push({ code: 'UNPRICED', rule_id, path, message: unpriced })
  return warnings
}

/** Newest requests of all projects that are searched for models without a price. */
const RECENT = 500
const NAMED = 5

/** Why a rule about cost misses some cost of a project, as text; null if it misses none. */
const missingPrices = async (gateway: Gateway, project_id: string): Promise<string | null> => {
  const prices = gateway.health.get('pricing')?.() as { readonly models?: number } | undefined
  if ((prices?.models ?? 0) === 0)
    return 'No model has a price, so that every request costs 0 and the rule never matches. Name a price file with replay.pricing or GUARD_MODEL_PRICING.'
  const models = [...new Set((await recent(gateway, project_id)).map((call) => call.model_requested))]
  if (models.length === 0) return null
  const more = models.length > NAMED ? ` and ${models.length - NAMED} more` : ''
  return `There is no price for ${models.slice(0, NAMED).join(', ')}${more}: their requests cost 0 in this rule. Add them to the price file.`
}

const recent = async (gateway: Gateway, project_id: string): Promise<readonly CallRecord[]> => {
  if (gateway.tables.get('calls') === undefined) return []
  const { rows } = await gateway.storage.find('calls', { order: ['received_at', 'desc'], limit: RECENT })
  return rows.filter((call) => call.project_id === project_id && isUnpriced(call.total_tokens, call.cost_source))
}
