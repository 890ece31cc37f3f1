import { type Driver, type DriverChange, GuardError, type Table } from 'guard-gateway/core'
import { copyErrors } from './error-codes.ts'
import { keyText, rowBytes, type StoredRow, storedRows } from './stored-rows.ts'

/** Puts the rows of the source after a position into the target, in their order. The next page is read while one is written. */
export const copyTable = async (
  from: Driver,
  to: Driver,
  table: Table,
  { after, wrote }: { readonly after: number; readonly wrote: (rows: number) => void },
): Promise<void> => {
  let writing = Promise.resolve()
  try {
    for await (const page of storedRows(from, table, after)) {
      await writing
      writing = putPage(to, table, page, wrote)
      // what it throws is thrown where it is awaited
      writing.catch(() => {})
    }
  } finally {
    await writing
  }
}

/** A backend refuses batches of tens of megabytes. */
const BATCH_BYTES = 4_194_304

/** Puts a page in one batch, or in several where its rows are large. */
const putPage = async (
  to: Driver,
  table: Table,
  page: readonly StoredRow[],
  wrote: (rows: number) => void,
): Promise<void> => {
  let batch: StoredRow[] = []
  let bytes = 0
  for (const [place, found] of page.entries()) {
    batch.push(found)
    bytes += rowBytes(found.row)
    if (bytes < BATCH_BYTES && place < page.length - 1) continue
    await putBatch(to, table, batch)
    wrote(batch.length)
    batch = []
    bytes = 0
  }
}

const putBatch = async (to: Driver, table: Table, page: readonly StoredRow[]): Promise<void> => {
  const batch = page.map(({ row }): DriverChange => ({ kind: 'put', table, row, absent: true }))
  if (await to.write(batch, { sync: false, hold: false })) return
  const [first, last] = [page[0], page.at(-1)].map((found) => (found === undefined ? '' : keyText(table, found.row)))
  throw new GuardError(
    copyErrors.COPY_TARGET_OCCUPIED,
    `Table ${table.id}: the target has a row from ${first} to ${last} already, and had not when the copy began. Something else writes to it: stop that, empty the target, and copy again.`,
  )
}
