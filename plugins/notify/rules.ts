import type { Notice } from 'guard-gateway/core'
import type { RuleOptions } from './options.ts'

const DEFAULT_MINUTES = 5
const MS_PER_MINUTE = 60_000

/** A rule that is ready to be asked. */
export interface Rule {
  readonly every_ms: number
  matches(notice: Required<Notice>): boolean
  /** Names of receivers. */
  readonly to: readonly string[]
}

/** Reads rules; without one, everything goes to every receiver. */
export const rulesOf = (rules: readonly RuleOptions[], receivers: readonly string[]): readonly Rule[] =>
  (rules.length === 0 ? [{}] : rules).map(({ events = [], projects = [], to = [], every_minutes }) => ({
    every_ms: (every_minutes ?? DEFAULT_MINUTES) * MS_PER_MINUTE,
    to: to.length === 0 ? receivers : to,
    matches: ({ event, project_id }) =>
      (events.length === 0 || events.includes(event)) &&
      (projects.length === 0 || project_id === null || projects.includes(project_id)),
  }))

/** The receivers of a notice by the rule that decides for them: the first that matches. */
export const receiversOf = <R extends Rule>(
  rules: readonly R[],
  notice: Required<Notice>,
): readonly { readonly rule: R; readonly to: readonly string[] }[] => {
  const decided = new Set<string>()
  return rules
    .filter((rule) => rule.matches(notice))
    .map((rule) => ({ rule, to: rule.to.filter((name) => decided.size !== decided.add(name).size) }))
    .filter(({ to }) => to.length > 0)
}
