import type { Table } from 'guard-gateway/core'
import { keyOf } from '../../kysely/shape.ts'
import { KeyFilter } from './filter.ts'

/** Keys of tables that are often asked for rows they have not: such a question needs no other thread. */
export class KnownKeys {
  /** By table: which keys it has, or those that were added while that is found out. */
  readonly #tables = new Map<string, KeyFilter | string[]>()

  /** Finds out what is there, for tables that want it; `read` gives the bits of a filter that has all keys of a table. */
  begin(tables: readonly Table[], read: (table: Table) => Promise<Uint8Array>): void {
    for (const table of tables) {
      if (table.often_absent !== true) continue
      const added: string[] = []
      this.#tables.set(table.id, added)
      read(table).then(
        (bits) => {
          // unless that is of no use any more
          if (this.#tables.get(table.id) !== added) return
          const filter = new KeyFilter(bits)
          for (const key of added) filter.add(key)
          this.#tables.set(table.id, filter)
        },
        () => this.#tables.delete(table.id),
      )
    }
  }

  /** Nothing is known any more. */
  end(): void {
    this.#tables.clear()
  }

  added({ id, key = ID }: Table, row: Readonly<Record<string, unknown>>): void {
    const keys = this.#tables.get(id)
    if (keys === undefined) return
    const text = String(row[key[0] ?? ''])
    if (keys instanceof KeyFilter) keys.add(text)
    else keys.push(text)
  }

  /** False: the table has no such row. */
  mayHave({ id }: Table, key: readonly string[]): boolean {
    const keys = this.#tables.get(id)
    return keys instanceof KeyFilter ? keys.mayHave(key[0] ?? '') : true
  }
}

const ID = keyOf({ id: '', columns: {} })
