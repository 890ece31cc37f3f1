import type { Attributes } from 'guard-gateway/core'
import { attributeLimits } from 'guard-gateway/core'
import { isJsonObject } from '#lib/json'
import type { MetadataOnly } from './content/metadata-only.ts'
import { guardNames } from './names.ts'

/** Room for what is added to a record later: its price, a declared project, the count of what went. */
const SPARE_KEYS = 16
/** Room for texts that redaction makes longer. */
const SPARE_CHARS = 4_096

/** UTF-16 units that a value takes up, as the limit of a record counts them; undefined for a value that no record may have. */
const sizeOf = (value: unknown, depth = 0): number | undefined => {
  if (depth > attributeLimits.depth) return undefined
  switch (typeof value) {
    case 'string':
      return Math.min(value.length, attributeLimits.value_chars)
    case 'number':
    case 'bigint':
      return Number.isFinite(Number(value)) ? 0 : undefined
    default:
      return typeof value === 'object' && value !== null ? sizeOfParts(value, depth) : 0
  }
}

const sizeOfParts = (value: object, depth: number): number | undefined => {
  let chars = 0
  for (const [name, part] of Object.entries(value)) {
    const size = sizeOf(part, depth + 1)
    if (size === undefined) return undefined
    chars += size + (isJsonObject(value) ? name.length : 0)
  }
  return chars
}

/**
 * Attributes within the limits of one record. Where there are too many, usage and known names stay before other metadata, and
 * that before what people and models said; what is left out is counted in `guard.dropped_attributes`. The same object if all fit; `dropped` receives the number of removed ones.
 */
export const fitAttributes = (
  attributes: Attributes,
  names: MetadataOnly,
  dropped: (count: number) => void,
): Attributes => {
  const entries = Object.entries(attributes).map(([name, value]) => ({ name, value, size: sizeOf(value) }))
  const usable = entries.filter(
    ({ name, size }) => name !== '' && name.length <= attributeLimits.key_chars && size !== undefined,
  )
  const chars = usable.reduce((sum, { size = 0 }) => sum + size, 0)
  const fits = (keys: number, sum: number): boolean =>
    keys <= attributeLimits.keys - SPARE_KEYS && sum <= attributeLimits.all_chars - SPARE_CHARS
  if (usable.length === entries.length && fits(entries.length, chars)) return attributes
  const byWorth = usable
    .map((entry) => ({ ...entry, rank: names.rank(entry.name, entry.value) }))
    .toSorted((one, other) => one.rank - other.rank)
  const stays: Record<string, unknown> = Object.create(null)
  let taken = 0
  let used = 0
  for (const { name, value, size = 0 } of byWorth) {
    if (!fits(taken + 1, used + size)) continue
    taken++
    used += size
    stays[name] = value
  }
  const count = entries.length - taken
  const before = stays[guardNames.dropped]
  stays[guardNames.dropped] = count + (typeof before === 'number' ? before : 0)
  dropped(count)
  return stays
}
