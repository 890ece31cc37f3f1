import type { Mode, Rule } from 'guard-gateway/core'

interface Compared {
  readonly mode: Mode | null
  readonly rules: readonly Rule[]
}

/** What changed from one policy to a later one, a phrase each; none: nothing did. */
export const differences = (before: Compared, after: Compared): readonly string[] => {
  const told: string[] = []
  if (before.mode !== after.mode) told.push(`mode ${modeWord(before.mode)} → ${modeWord(after.mode)}`)
  const earlier = new Map(before.rules.map((rule) => [rule.id, rule]))
  const later = new Map(after.rules.map((rule) => [rule.id, rule]))
  for (const id of earlier.keys()) if (!later.has(id)) told.push(`${id} removed`)
  for (const [id, rule] of later) {
    const was = earlier.get(id)
    if (was === undefined) told.push(`${id} added`)
    else told.push(...changes(was, rule).map((change) => `${id}: ${change}`))
  }
  if (orderOf(before.rules, later) !== orderOf(after.rules, earlier)) told.push('another order')
  return told
}

const modeWord = (mode: Mode | null): string => mode ?? 'inherited'

const compared = ['rule_type', 'threshold', 'window_size', 'action', 'params', 'note'] as const

const changes = (before: Rule, after: Rule): string[] => {
  const told = compared.flatMap((name) => {
    const [was, is] = [JSON.stringify(before[name]) ?? 'none', JSON.stringify(after[name]) ?? 'none']
    return was === is ? [] : [`${name} ${was} → ${is}`]
  })
  if (before.enabled !== after.enabled) told.push(after.enabled ? 'on' : 'off')
  return told
}

/** The ids that both have, in the order of one. */
const orderOf = (rules: readonly Rule[], other: ReadonlyMap<string, Rule>): string =>
  rules
    .map(({ id }) => id)
    .filter((id) => other.has(id))
    .join(' ')
