import type { Detector, Mode, Per, Period, Registry, Rule } from 'guard-gateway/core'
import { periodOfParams, type UnseenUsage } from '#lib/budget'

/** Minimum and maximum rows of a session's history. */
const ROWS = 64
const MAX_ROWS = 1000

/** An enabled rule with the detector that evaluates it; `rule.params` are complete. */
export interface ActiveRule {
  readonly rule: Rule
  readonly detector: Detector
  /** The rule is about one conversation, not the whole session. */
  readonly narrow: boolean
  /** The rule is about usage of the agent or project in a calendar period. */
  readonly period: Period | undefined
}

/** A policy, ready to be evaluated. */
export interface Policy {
  /** Whose it is: `default` also where another project inherits it. */
  readonly project_id: string
  /** 0: it comes with the gateway and was never stored. */
  readonly version: number
  readonly mode: Mode | null
  readonly rules: readonly Rule[]
  readonly active: readonly ActiveRule[]
  /** The detectors of active rules that measure each request. */
  readonly measuring: readonly Detector[]
  /** The active rules whose detectors watch replies. */
  readonly streaming: readonly ActiveRule[]
  /** What a call counts for whose reply nobody saw; undefined: no active rule is a budget. */
  readonly unseen: UnseenUsage | undefined
  /** Ids of the active rules that need prices. */
  readonly priced: readonly string[]
  /** The calendar periods of its active rules. */
  readonly pers: readonly Per[]
  /** Ids of the detectors of active rules that compare starts. */
  readonly comparing: readonly string[]
  /** Rows and outcomes of a history that its rules need. */
  readonly reach: number
}

/** Finds the detector of each enabled rule; a rule without one is left out. */
export const policyOf = (
  { project_id, version, mode, rules }: Pick<Policy, 'project_id' | 'version' | 'mode' | 'rules'>,
  detectors: Registry<Detector>,
): Policy => {
  const active: ActiveRule[] = []
  let reach = ROWS
  for (const rule of rules) {
    const detector = rule.enabled ? detectors.get(rule.rule_type) : undefined
    if (detector === undefined) continue
    const params: Readonly<Record<string, unknown>> = { ...asParams(detector.defaults.params), ...rule.params }
    active.push({
      rule: { ...rule, params },
      detector,
      narrow: params.scope === 'thread',
      period: periodOfParams(params),
    })
    reach = Math.max(reach, rule.window_size, detector.kind === 'outcome' ? rule.threshold : 0)
  }
  const measuring = [...new Set(active.map(({ detector }) => detector))].filter(({ measure }) => measure !== undefined)
  const streaming = active.filter(({ detector }) => detector.stream !== undefined)
  const budgets = active.filter(({ detector }) => detector.kind === 'budget')
  const holds = budgets.some(({ rule }) => asParams(rule.params).reserve === true)
  const priced = active.filter(({ detector }) => detector.needs === 'prices').map(({ rule }) => rule.id)
  const pers = [...new Set(active.flatMap(({ period }) => period?.per ?? []))]
  const comparing = measuring.filter(({ compares }) => compares === 'starts').map(({ id }) => id)
  return {
    project_id,
    version,
    mode,
    rules,
    active,
    measuring,
    streaming,
    unseen: budgets.length === 0 ? undefined : holds ? 'reserved' : 'estimated',
    priced,
    pers,
    comparing,
    reach: Math.min(reach, MAX_ROWS),
  }
}

/** Where the policy in force for a project comes from. */
export type PolicySource = 'own' | 'inherited' | 'built_in'

/** Whether the policy in force for a project is its own, and at which version; 0 if it has none. */
export const sourceOf = (
  policy: Policy,
  project: string,
): { readonly source: PolicySource; readonly version: number } => {
  if (policy.version === 0) return { source: 'built_in', version: 0 }
  return policy.project_id === project
    ? { source: 'own', version: policy.version }
    : { source: 'inherited', version: 0 }
}

/** The version of a policy in decisions about calls of a project; with the project that it is of where that is another. */
export const policyVersion = ({ project_id, version }: Policy, project: string): string =>
  version === 0 || project_id === project ? String(version) : `${project_id}:${version}`

const asParams = (params: unknown): Readonly<Record<string, unknown>> =>
  typeof params === 'object' && params !== null ? (params as Readonly<Record<string, unknown>>) : {}
