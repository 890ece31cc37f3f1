import { meanings } from './meanings.ts'

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Meaning of a field; a meaning below `parent` comes first. Undefined if there is none. */
const meaningOf = (name: string, parent: string): string | undefined => {
  const key = [`${parent}.${name}`, name].find((one) => Object.hasOwn(meanings, one))
  return key === undefined ? undefined : meanings[key]
}

const alternativesOf = (schema: Node): readonly unknown[] =>
  [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : []))

/** What a schema or one of its alternatives says. */
const ownDescription = (schema: unknown): string | undefined => {
  if (!isNode(schema)) return undefined
  if (typeof schema.description === 'string') return schema.description
  return alternativesOf(schema)
    .map(ownDescription)
    .find((text) => text !== undefined)
}

/** A copy of a schema in which fields without a description have their meaning. `parent`: the member that it belongs to. */
export const describeFields = (schema: unknown, parent = ''): unknown => {
  if (Array.isArray(schema)) return schema.map((one) => describeFields(one, parent))
  if (!isNode(schema)) return schema
  const copy: Record<string, unknown> = { ...schema }
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'items', 'additionalProperties'])
    if (keyword in schema) copy[keyword] = describeFields(schema[keyword], parent)
  if (isNode(schema.properties))
    copy.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, described(member, name, parent)]),
    )
  return copy
}

const described = (member: unknown, name: string, parent: string): unknown => {
  const copy = describeFields(member, name)
  if (!isNode(copy)) return copy
  const description = ownDescription(copy) ?? meaningOf(name, parent)
  return description === undefined ? copy : { ...copy, description }
}

/** The meaning of a parameter that says nothing itself. */
export const parameterMeaning = (name: string): string | undefined => meaningOf(name, '')
