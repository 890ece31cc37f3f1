import type { Column } from 'guard-gateway/core'

/** The type of each kind of column, as the catalogue of the database names it. */
export const PG_TYPES = {
  text: 'text',
  integer: 'bigint',
  int64: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
  // jsonb would lose the order of members, duplicates and exact integers
  json: 'text',
  // tokens as they are, found by GIN, also by their beginnings
  search: 'tsvector',
} as const satisfies Record<Column, string>
