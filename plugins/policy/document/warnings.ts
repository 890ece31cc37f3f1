import type { Detector, Gateway, Mode, Registry, Rule } from 'guard-gateway/core'
import { defaultEnforced } from './default-enforced.ts'
import { missingPrices } from './missing-prices.ts'

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
