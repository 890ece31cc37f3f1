import { type Driver, type DriverChange, storage, type Table } from 'guard-gateway/core'
import { Rows } from './rows.ts'

const open = (tables: readonly Table[]): Driver => {
  const all = new Map(tables.map((table) => [table.id, new Rows(table)]))
  const of = (table: Table): Rows => {
    const rows = all.get(table.id)
    if (rows === undefined) throw new TypeError(`table "${table.id}" was not there when the storage was opened`)
    return rows
  }
  const write = (batch: readonly DriverChange[]): boolean => {
    const undos: (() => void)[] = []
    for (const change of batch) {
      const undo = of(change.table).apply(change)
      if (undo === undefined) {
        for (const back of undos.reverse()) back()
        return false
      }
      undos.push(undo)
    }
    return true
  }
  return {
    capabilities: { search: 'tokens', shared: false },
    state: 'ok',
    onState: () => () => {},
    get: async (table, key) => of(table).get(key),
    find: async (table, query) => of(table).find(query),
    sum: async (table, asked) => of(table).sum(asked),
    write: async (batch) => write(batch),
    remove: async (table, where, limit) => of(table).remove(where, limit),
    tokens: (table, after) => of(table).tokens(after),
    storedTables: async () => [...all.keys()],
    bytes: async () => [...all.values()].reduce((sum, rows) => sum + rows.bytes(), 0),
    close: async () => all.clear(),
  }
}

/** Rows in the memory of this process: nothing to set up, nothing survives it. */
export const memory = () => storage({ id: 'memory', open: async (tables) => open(tables) })
