import assert from 'node:assert/strict'
import type { Driver, DriverChange, StorageBackend, Table } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { runCopy } from '../../../plugins/storage/copy/run-copy.ts'
import { conformanceTables } from '../../conformance/storage.ts'
import { fakeIo } from '../../kit/io.ts'

export const [items, notes] = conformanceTables as unknown as readonly [Table, Table]
export const tables = [items, notes]
export const PLAIN = { sync: false, hold: false }

/** A backend that stays what it is when it is closed and opened again. */
export const kept = (): StorageBackend => {
  let driver: Driver | undefined
  const backend = memory()
  return {
    id: 'kept',
    open: async (given) => {
      driver ??= await backend.open(given)
      return { ...driver, close: async () => {} }
    },
  }
}

export const rowOf = (place: number) => ({
  group: place % 3 === 0 ? 'a' : 'b',
  id: `r${(place * 7919) % 10_007}`,
  name: place % 5 === 0 ? null : `name ${place} größe 数据 😀`,
  count: place % 4 === 0 ? null : place,
  total: place % 2 === 0 ? 9_223_372_036_854_775_807n - BigInt(place) : null,
  ratio: place / 3,
  done: [true, false, null][place % 3],
  data: [null, { z: 1, a: [9_007_199_254_740_993n, '😀'], n: -0.5 }, 'text', 7n, false][place % 5],
  words: place % 6 === 0 ? [] : [`word${place % 11}`, 'größe', '_tag_6f', `read_file_${place}`],
})

export const fill = async (driver: Driver, count: number, first = 0): Promise<void> => {
  const batch: DriverChange[] = []
  for (let place = first; place < first + count; place++) {
    batch.push({ kind: 'put', table: items, row: rowOf(place), absent: true })
    batch.push({ kind: 'put', table: notes, row: { id: `n${place}`, text: `${place}` }, absent: true })
  }
  assert.equal(await driver.write(batch, PLAIN), true)
}

export const withDriver = async <T>(backend: StorageBackend, work: (driver: Driver) => Promise<T>): Promise<T> => {
  const driver = await backend.open(tables, { fault: () => {} })
  try {
    return await work(driver)
  } finally {
    await driver.close()
  }
}

/** All rows in order, and which rows each token finds. */
export const contents = (backend: StorageBackend) =>
  withDriver(backend, async (driver) => {
    const all = { where: {}, order: ['recorded', 'asc'], limit: 100_000, after: null } as const
    const found = await driver.find(items, { ...all, search: [] })
    const tagged = await driver.find(items, { ...all, search: ['word3', 'gr*'] })
    const other = await driver.find(notes, { ...all, search: [] })
    return { rows: found.rows, tagged: tagged.rows.map(({ id }) => id), notes: other.rows }
  })

export const copy = async (from: StorageBackend, to: StorageBackend, given: readonly Table[] = tables) => {
  const io = fakeIo()
  const storageAt = async (name: string) => ({
    id: name,
    title: name,
    exists: true,
    backend: name === 'from' ? from : to,
  })
  const input = { args: [], rest: [], options: { from: 'from', to: 'to', json: true } }
  const code = await runCopy(given, storageAt, input, io)
  return { code, result: JSON.parse(io.outText()), err: io.errText() }
}
