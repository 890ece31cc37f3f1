import { after, before } from 'node:test'
import type { Storage, StorageBackend } from 'guard-gateway/core'
import { addTests } from './storage/adds.ts'
import { batchTests } from './storage/batches.ts'
import { findingTests } from './storage/finding.ts'
import { type Desk, item, openPlain } from './storage/items.ts'
import { rowTests } from './storage/rows.ts'
import { searchTests } from './storage/search.ts'
import { sumTests } from './storage/sums.ts'

export { type ConformanceItem, conformanceTables, item, openPlain } from './storage/items.ts'

/** Registers the tests that every storage backend passes. It writes to two tables of its own, named `conformance_…`. */
export const storageConforms = (backend: StorageBackend): void => {
  let opened: Storage | undefined
  before(async () => {
    opened = await openPlain(backend)
  })
  after(() => opened?.close())
  const desk: Desk = {
    id: backend.id,
    get store() {
      if (opened === undefined) throw new Error(`storage ${backend.id} did not open`)
      return opened
    },
    put: (group, id, rest = {}) => desk.store.put('conformance_items', item(group, id, rest)),
    get: (group, id) => desk.store.get('conformance_items', [group, id]),
  }
  rowTests(desk)
  batchTests(desk)
  addTests(desk)
  findingTests(desk)
  searchTests(desk)
  sumTests(desk)
}
