import { isJsonObject } from 'guard-gateway/lib/json'

const MAX_BYTES = 262_144
const MAX_DEPTH = 64
/** Counts nested and adjacent parts, since all of them nest in the generated code: reading it takes quadratic time, and stack. */
const MAX_NESTING = 700
/** Each becomes code, and to make it takes longer the more there is. */
const MAX_OBJECTS = 2000

/** Why a schema is too large to be compiled; undefined for one that is not. Does not recurse. */
export const sizeFault = (schema: unknown): string | undefined => {
  if (!isJsonObject(schema)) return 'is no object'
  const waiting: (readonly [part: unknown, depth: number])[] = [[schema, 1]]
  let bytes = 0
  let objects = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [part, depth] = next
    if (depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`
    bytes += ownBytes(part)
    if (bytes > MAX_BYTES) return `has more than ${MAX_BYTES} bytes`
    objects += shareOf(part)
    if (objects > MAX_OBJECTS) return `has more than ${MAX_OBJECTS} objects`
    for (const child of childrenOf(part)) waiting.push([child, depth + 1])
  }
  return nestingOf(schema) > MAX_NESTING
    ? `has more than ${MAX_NESTING} parts beside and within one another`
    : undefined
}

/** Recurses, no deeper than schemas nest. */
const nestingOf = (part: unknown): number => {
  const parts = childrenOf(part).filter((child) => shareOf(child) > 0 || Array.isArray(child))
  return parts.length + parts.reduce<number>((most, child) => Math.max(most, nestingOf(child)), 0)
}

/** A schema that is a boolean becomes code, too, but little. */
const shareOf = (part: unknown): number => (typeof part === 'boolean' ? 1 / 4 : Number(isJsonObject(part)))

const childrenOf = (part: unknown): readonly unknown[] =>
  typeof part === 'object' && part !== null ? Object.values(part) : []

/** Of a scalar, or of a container without what its members hold. */
const ownBytes = (part: unknown): number => {
  if (typeof part === 'string') return Buffer.byteLength(part) + 3
  if (typeof part !== 'object' || part === null) return String(part).length + 1
  if (Array.isArray(part)) return 3
  let bytes = 3
  for (const name of Object.keys(part)) bytes += Buffer.byteLength(name) + 3
  return bytes
}
