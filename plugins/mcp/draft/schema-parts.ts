import { isJsonObject, type JsonObject, pointerKeys } from '#lib/json'

/** The schema of one argument, and whether every call must have it. */
export interface SchemaPart {
  readonly schema: JsonObject
  readonly isRequired: boolean
}

const branchesOf = ({ anyOf, oneOf, allOf }: JsonObject): readonly unknown[] =>
  [anyOf, oneOf, allOf].flatMap((parts) => (Array.isArray(parts) ? parts : []))

/** What a schema says of the place that a pointer leads to; undefined where it says nothing. */
export const partAt = (schema: unknown, pointer: string): SchemaPart | undefined =>
  within(schema, pointerKeys(pointer), true)

const within = (schema: unknown, keys: readonly string[], isRequired: boolean): SchemaPart | undefined => {
  if (!isJsonObject(schema)) return undefined
  const [key, ...rest] = keys
  if (key === undefined) return { schema, isRequired }
  return (
    firstWithin(ownParts(schema, key, isRequired), rest) ??
    firstWithin(
      branchesOf(schema).map((branch) => [branch, false]),
      keys,
    )
  )
}

type Part = readonly [schema: unknown, isRequired: boolean]

const firstWithin = (parts: readonly Part[], keys: readonly string[]): SchemaPart | undefined => {
  for (const [part, isRequired] of parts) {
    const found = within(part, keys, isRequired)
    if (found !== undefined) return found
  }
  return undefined
}

/** What a schema says of a member, or with an asterisk of every element and of members that it does not name. */
const ownParts = (schema: JsonObject, key: string, isRequired: boolean): readonly Part[] => {
  const properties = propertiesOf(schema) ?? {}
  if (Object.hasOwn(properties, key)) return [[properties[key], isRequired && requiredNames(schema).includes(key)]]
  if (key !== '*') return []
  return [
    [schema.items, isRequired && Number(schema.minItems) > 0],
    [schema.additionalProperties, false],
  ]
}

/** The types that a schema names, those of its alternatives too. */
export const typesOf = (schema: unknown): readonly string[] => {
  if (!isJsonObject(schema)) return []
  const own = [schema.type].flat().filter((type) => typeof type === 'string')
  return [...new Set([...own, ...branchesOf(schema).flatMap(typesOf)])]
}

/** The arguments of a tool with their schemas; undefined where its schema does not name any. */
export const propertiesOf = (schema: unknown): JsonObject | undefined =>
  isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : undefined

/** The names of the arguments that every call has. */
export const requiredNames = (schema: unknown): readonly string[] =>
  isJsonObject(schema) && Array.isArray(schema.required)
    ? schema.required.filter((name): name is string => typeof name === 'string')
    : []
