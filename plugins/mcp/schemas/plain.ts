import { type Holds, KEYWORDS } from './vocabulary.ts'

/** Where schemas stand, in both dialects. */
const PLACES: ReadonlyMap<string, Holds> = new Map([
  ...KEYWORDS,
  ['additionalItems', 'schema'] as const,
  ['dependencies', 'map'] as const,
])

/**
 * The schema without what the validator has beyond JSON Schema, for which these are words like any other:
 * `$async` would make validations promises, `id` and many a `nullable` would stop it altogether.
 */
export const plainSchema = (schema: unknown): unknown => {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  const { type } = schema as { readonly type?: unknown }
  const isOurs = (name: string, part: unknown): boolean =>
    name !== '$async' && name !== 'id' && (name !== 'nullable' || (part === true && type !== undefined))
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name, part]) => isOurs(name, part))
      .map(([name, part]) => [name, plainPart(PLACES.get(name), part)]),
  )
}

const plainPart = (holds: Holds | undefined, part: unknown): unknown => {
  if (Array.isArray(part)) return holds === 'schemas' || holds === 'schema' ? part.map(plainSchema) : part
  if (holds === 'schema') return plainSchema(part)
  return holds === 'map' && typeof part === 'object' && part !== null
    ? Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, plainMember(inner)]))
    : part
}

/** Names that one member of `dependencies` needs are said in the way that becomes a loop, not code for each name. */
const plainMember = (inner: unknown): unknown => (Array.isArray(inner) ? { required: inner } : plainSchema(inner))
