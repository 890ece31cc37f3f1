import type { Detector, Mode, Per, Period, Registry, Rule } from 'guard-gateway/core'
import { periodIn } from 'guard-gateway/lib/budget'

/** The fewest rows a session remembers, and the most. */
const ROWS = 64
const MOST_ROWS = 1000

/** An enabled rule with the detector that evaluates it; `rule.params` are complete. */
export interface ActiveRule {
  readonly rule: Rule
  readonly detector: Detector
  /** Looks at one conversation, not at the whole session. */
  readonly narrow: boolean
  /** Looks at all that the agent or the project uses in a stretch of the calendar. */
  readonly period: Period | undefined
}

/** The policy of a project, ready to be evaluated. */
export interface Policy {
  readonly project_id: string
  /** 0 for the default. */
  readonly version: number
  /** The version as decisions tell it. */
  readonly policy_version: string
  readonly source: 'default' | 'stored'
  readonly mode: Mode | null
  readonly rules: readonly Rule[]
  readonly active: readonly ActiveRule[]
  /** The detectors of active rules that measure each request. */
  readonly measuring: readonly Detector[]
  /** The active rules whose detectors listen to replies. */
  readonly streaming: readonly ActiveRule[]
  /** Ids of the active rules that say nothing where prices are missing. */
  readonly priced: readonly string[]
  /** The stretches of the calendar that its active rules look at. */
  readonly pers: readonly Per[]
  /** The detectors of active rules that compare starts, by their ids. */
  readonly comparing: readonly string[]
  /** How many rows and outcomes its rules look at. */
  readonly reach: number
}

/** Finds a detector for each enabled rule; a rule of a type that has none is left out. */
export const policyOf = (
  about: Pick<Policy, 'project_id' | 'version' | 'source' | 'mode' | 'rules'>,
  detectors: Registry<Detector>,
): Policy => {
  const active: ActiveRule[] = []
  let reach = ROWS
  for (const rule of about.rules) {
    const detector = rule.enabled ? detectors.get(rule.rule_type) : undefined
    if (detector === undefined) continue
    const params: Readonly<Record<string, unknown>> = { ...asParams(detector.defaults.params), ...rule.params }
    active.push({ rule: { ...rule, params }, detector, narrow: params.scope === 'thread', period: periodIn(params) })
    reach = Math.max(reach, rule.window_size, detector.kind === 'outcome' ? rule.threshold : 0)
  }
  const measuring = [...new Set(active.map(({ detector }) => detector))].filter(({ measure }) => measure !== undefined)
  const streaming = active.filter(({ detector }) => detector.stream !== undefined)
  const priced = active.filter(({ detector }) => detector.needs === 'prices').map(({ rule }) => rule.id)
  const pers = [...new Set(active.flatMap(({ period }) => period?.per ?? []))]
  const comparing = measuring.filter(({ compares }) => compares === 'starts').map(({ id }) => id)
  const policy_version = String(about.version)
  return {
    ...about,
    policy_version,
    active,
    measuring,
    streaming,
    priced,
    pers,
    comparing,
    reach: Math.min(reach, MOST_ROWS),
  }
}

const asParams = (params: unknown): Readonly<Record<string, unknown>> =>
  typeof params === 'object' && params !== null ? (params as Readonly<Record<string, unknown>>) : {}
