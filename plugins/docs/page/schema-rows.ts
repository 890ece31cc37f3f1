import type { Schema } from './description.ts'
import { formsOf } from './schema-words.ts'

/** A member of what a schema describes, however deep it lies. */
export interface SchemaRow {
  /** `spans[].events[].name`; `*` for any name; empty for the value itself. */
  readonly name: string
  readonly required: boolean
  readonly schema: Schema
}

const MOST_DEEP = 6

/** The members that a schema names, parents before their own; the value itself where it has none. */
export const rowsOf = (schema: Schema): readonly SchemaRow[] => {
  const rows = new Map<string, SchemaRow>()
  below(rows, schema, '', 0)
  return rows.size > 0 ? [...rows.values()] : [{ name: '', required: true, schema }]
}

const below = (rows: Map<string, SchemaRow>, schema: Schema, path: string, depth: number): void => {
  if (depth > MOST_DEEP) return
  for (const form of [...formsOf(schema), ...(schema.allOf ?? [])]) {
    if (form.items !== undefined) below(rows, form.items, `${path}[]`, depth + 1)
    for (const [name, member] of membersOf(form)) {
      const full = path === '' ? name : `${path}.${name}`
      const required = form.required?.includes(name) === true
      // forms of one value may share a member
      rows.set(full, rows.get(full) ?? { name: full, required, schema: member })
      below(rows, member, full, depth + 1)
    }
  }
}

const membersOf = ({ properties = {}, patternProperties = {}, additionalProperties }: Schema) => {
  const others = typeof additionalProperties === 'object' ? [additionalProperties] : []
  const any = [...Object.values(patternProperties), ...others].map((member) => ['*', member] as const)
  return [...Object.entries(properties), ...any]
}
