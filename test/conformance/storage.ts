import { after, before } from 'node:test'
import type { Storage, StorageBackend } from 'guard-gateway/core'
import { addTests } from './storage/adds.ts'
import { batchTests } from './storage/batches.ts'
import { findingTests } from './storage/finding.ts'
import { type Desk, item, openPlain } from './storage/items.ts'
import { reopeningTests } from './storage/reopening.ts'
import { rowTests } from './storage/rows.ts'
import { searchTests } from './storage/search.ts'
import { sumTests } from './storage/sums.ts'

export { type ConformanceItem, conformanceTables, item, openPlain } from './storage/items.ts'

export interface StorageConformanceOptions {
  /** False: what is stored ends with the process, as that of `memory`. */
  readonly isPersistent?: boolean
}

/** Registers the tests that every storage backend passes. It writes to two tables of its own, named `conformance_…`, and closes and opens it once. */
export const storageConforms = (
  backend: StorageBackend,
  { isPersistent = true }: StorageConformanceOptions = {},
): void => {
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
  if (!isPersistent) return
  reopeningTests(desk, async () => {
    await desk.store.close()
    opened = await openPlain(backend)
  })
}
