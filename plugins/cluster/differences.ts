import type { InstanceRow } from './tables.ts'

/** What living processes have that should be the same for all, a sentence each. */
export const differencesOf = (alive: readonly InstanceRow[]): readonly string[] => {
  const names = new Set(alive.flatMap(({ facts }) => Object.keys(facts ?? {})))
  return [...names].sort().flatMap((name) => {
    const groups = Map.groupBy(alive, ({ facts }) => facts?.[name] ?? null)
    if (groups.size < 2) return []
    const each = [...groups].map(([value, rows]) => `${value ?? 'none'} on ${rows.map(placeOf).join(', ')}`)
    return [`The gateways differ in ${name.replaceAll('_', ' ')}: ${each.join('; ')}. Give all of them the same file.`]
  })
}

const placeOf = ({ host, pid }: InstanceRow): string => `${host}:${pid}`
