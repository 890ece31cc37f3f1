import type { Table } from 'guard-gateway/core'
import { keyOf } from '../../kysely/shape.ts'
import { BloomFilter } from './bloom-filter.ts'

/** The keys of tables whose rows are often looked up although they are absent (`often_absent`): the answer then needs no query to the worker. */
export class KnownKeys {
  /** By table: a filter of its keys, or the keys that were added while the filter is being read. */
  readonly #tables = new Map<string, BloomFilter | string[]>()

  /** Reads the filters of the tables that ask for one. `read` gives the bits of a filter with all keys of a table. */
  load(tables: readonly Table[], read: (table: Table) => Promise<Uint8Array>): void {
    for (const table of tables) {
      if (table.often_absent !== true) continue
      const added: string[] = []
      this.#tables.set(table.id, added)
      read(table).then(
        (bits) => {
          // cleared or loaded again meanwhile
          if (this.#tables.get(table.id) !== added) return
          const filter = new BloomFilter(bits)
          for (const key of added) filter.add(key)
          this.#tables.set(table.id, filter)
        },
        () => this.#tables.delete(table.id),
      )
    }
  }

  /** Forgets all keys. */
  clear(): void {
    this.#tables.clear()
  }

  added(table: Table, row: Readonly<Record<string, unknown>>): void {
    if (this.#tables.has(table.id)) this.addedKey(table, String(row[keyOf(table)[0] ?? '']))
  }

  /** `text`: the first column of the key. */
  addedKey({ id }: Table, text: string): void {
    const keys = this.#tables.get(id)
    if (keys instanceof BloomFilter) keys.add(text)
    else keys?.push(text)
  }

  /** False: the table has no row with this key. */
  mayHave({ id }: Table, key: readonly string[]): boolean {
    const keys = this.#tables.get(id)
    return keys instanceof BloomFilter ? keys.mayHave(key[0] ?? '') : true
  }
}
