import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Driver, StorageBackend, Table } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import type { Bench } from 'tinybench'
import { type RecordedBatch, recordedBatch, renumbered } from '../kit/batches.ts'
import { type Measured, timesAsync } from '../kit.ts'

const SHARED = 64

/** The cost of a durable record of a request: its row, its session totals and its run. */
export const register = async (bench: Bench): Promise<void> => {
  const batch = await recordedBatch()
  for (const together of [1, SHARED]) {
    const alone = together === 1 ? 'one at a time' : `${together} at once`
    writing(bench, `storage: memory, ${alone}`, batch, together, () => memory())
    writing(bench, `storage: sqlite, ${alone}`, batch, together, (folder) => sqlite({ file: join(folder, 'guard.db') }))
  }
}

const writing = (
  bench: Bench,
  name: string,
  batch: RecordedBatch,
  together: number,
  backend: (folder: string) => StorageBackend,
): void => {
  let open: { readonly folder: string; readonly driver: Driver } | undefined
  let task: () => Promise<Measured> = () => Promise.reject(new Error('the storage is not open'))
  bench.add(name, () => task(), {
    async: true,
    async beforeAll() {
      const folder = await mkdtemp(join(tmpdir(), 'guard-bench-'))
      const driver = await opened(backend(folder), batch.tables)
      await driver.write(batch.opening, { sync: false, hold: false })
      let number = 0
      task = timesAsync(
        SHARED,
        () => driver.write(renumbered(batch.request, number++), { sync: false, hold: false }),
        together,
      )
      open = { folder, driver }
    },
    async afterAll() {
      await open?.driver.close()
      if (open !== undefined) await rm(open.folder, { recursive: true, force: true })
    },
  })
}

const opened = (backend: StorageBackend, tables: readonly Table[]): Promise<Driver> =>
  backend.open(tables, {
    fault(error) {
      throw error
    },
  })
