import type { Table } from 'guard-gateway/core'
import { sha256 } from 'guard-gateway/lib/ids'
import { keyOf } from '../../kysely/shape.ts'

/** The most bytes of a name; a longer one is cut by the server without a word. */
const MAX_BYTES = 63

export interface Index {
  readonly table: string
  readonly name: string
  readonly columns: readonly string[]
  readonly use: 'ordered' | 'sparse' | 'unique' | 'search'
}

/** What the name of an index says of its use. */
const MARKS = { ordered: 'i', sparse: 's', unique: 'u', search: 't' } as const

const nameOf = (table: string, use: Index['use'], columns: readonly string[]): string => {
  const whole = `${table}__${MARKS[use]}__${columns.join('__')}`
  return whole.length <= MAX_BYTES ? whole : `${whole.slice(0, MAX_BYTES - 13)}_${sha256(whole).slice(0, 12)}`
}

/** The indexes of a table. Those that order rows end in `recorded`, so that ties need no sorting. */
export const indexesOf = (table: Table): readonly Index[] => {
  const of = (use: Index['use']) => (given: readonly string[]) => {
    const columns = given.filter((name) => name !== 'recorded')
    return { table: table.id, name: nameOf(table.id, use, columns), columns, use }
  }
  const search = Object.keys(table.columns).filter((name) => table.columns[name] === 'search')
  const all = [
    of('unique')(keyOf(table)),
    ...(table.unique ?? []).map(of('unique')),
    ...(table.sparse ?? []).map(of('sparse')),
    ...(table.indexes ?? []).map(of('ordered')).filter(({ columns }) => columns.length > 0),
    ...search.map((name) => of('search')([name])),
  ]
  return [...new Map(all.map((index) => [index.name, index])).values()]
}
