import { isDeepStrictEqual } from 'node:util'
import type { Mode, Rule } from 'guard-gateway/core'
import { RECOMMENDED } from '#lib/budget'

/** The list of rules whose enforcement is warned of, and the one that is offered instead. */
const LITERAL = 'default'

/**
 * Says what enforcing the default rules stops in addition to loops; undefined for other rules, in shadow mode, or without a recommended preset.
 * The default rules follow the specification to the letter and are meant for shadow mode.
 */
export const defaultEnforced = (
  mode: Mode,
  rules: readonly Rule[],
  presets: Readonly<Record<string, unknown>>,
): string | undefined => {
  if (mode !== 'enforce' || presets[RECOMMENDED] === undefined || !isSame(rules, presets[LITERAL])) return undefined
  const stopped = rules.flatMap((rule) => (rule.enabled ? (alsoStops[rule.rule_type]?.(rule) ?? []) : []))
  return `Enforced, the default rules also stop what is no loop: ${stopped.join('; ')}. The preset "${RECOMMENDED}" stops what is surely stuck and only flags the rest.`
}

/** The preset with the same rules, whatever their ids and order; undefined if there is none. */
export const presetNamed = (rules: readonly Rule[], presets: Readonly<Record<string, unknown>>): string | undefined =>
  Object.keys(presets).find((name) => isSame(rules, presets[name]))

const isSame = (rules: readonly Rule[], list: unknown): boolean =>
  Array.isArray(list) && isDeepStrictEqual(active(rules), active(list as readonly Rule[]))

/** The fields of enabled rules that affect decisions, sorted. */
const active = (rules: readonly Rule[]): readonly unknown[] =>
  rules
    .filter(({ enabled }) => enabled)
    .map(({ rule_type, threshold, window_size, action, params = {} }) => [
      rule_type,
      threshold,
      window_size,
      action,
      params,
    ])
    .sort((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other)))

const grouped = new Intl.NumberFormat('en-US')

const alsoStops: Readonly<Record<string, (rule: Rule) => string>> = {
  exact_repeat: ({ threshold }) =>
    `attempt ${threshold} of a request whose ${threshold - 1} attempts before failed at the provider`,
  tool_repeat: ({ threshold }) => `a check that is run a ${ordinal(threshold)} time after edits`,
  max_requests: ({ threshold }) => `any session after ${grouped.format(threshold)} requests`,
  max_tokens: ({ threshold }) =>
    `any session after ${grouped.format(threshold)} tokens, cache reads counted in full, which coding agents reach in a few requests`,
}

const ordinal = (count: number): string => (count === 2 ? 'second' : count === 3 ? 'third' : `${count}th`)
