import type { Schema } from './description.ts'
import { alternativesOf } from './schema-words.ts'

/** A member of a schema, at any depth. */
export interface SchemaRow {
  /** `spans[].events[].name`; `*` for any name; empty for the value itself. */
  readonly name: string
  readonly required: boolean
  readonly schema: Schema
}

const MAX_DEPTH = 6

/** Members of a schema, parents first; the value itself if it has no members. */
export const rowsOf = (schema: Schema): readonly SchemaRow[] => {
  const rows = new Map<string, SchemaRow>()
  addMembers(rows, schema, '', 0)
  return rows.size > 0 ? [...rows.values()] : [{ name: '', required: true, schema }]
}

const addMembers = (rows: Map<string, SchemaRow>, schema: Schema, path: string, depth: number): void => {
  if (depth > MAX_DEPTH) return
  for (const alternative of [...alternativesOf(schema), ...(schema.allOf ?? [])]) {
    if (alternative.items !== undefined) addMembers(rows, alternative.items, `${path}[]`, depth + 1)
    for (const [name, member] of membersOf(alternative)) {
      const fullName = path === '' ? name : `${path}.${name}`
      const required = alternative.required?.includes(name) === true
      // alternatives may share a member
      rows.set(fullName, rows.get(fullName) ?? { name: fullName, required, schema: member })
      addMembers(rows, member, fullName, depth + 1)
    }
  }
}

const membersOf = ({ properties = {}, patternProperties = {}, additionalProperties }: Schema) => {
  const anyName = typeof additionalProperties === 'object' ? [additionalProperties] : []
  const any = [...Object.values(patternProperties), ...anyName].map((member) => ['*', member] as const)
  return [...Object.entries(properties), ...any]
}
