import { type Driver, type DriverChange, GuardError, type Table } from 'guard-gateway/core'
import { copyErrors } from './error-codes.ts'
import { keyText, type StoredRow, storedRows } from './stored-rows.ts'

/** Puts the rows of the source behind a position into the target, in their order. The next page is read while one is written. */
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
      writing = putPage(to, table, page).then(() => wrote(page.length))
      // what it throws is thrown where it is awaited
      writing.catch(() => {})
    }
  } finally {
    await writing
  }
}

const putPage = async (to: Driver, table: Table, page: readonly StoredRow[]): Promise<void> => {
  const batch = page.map(({ row }): DriverChange => ({ kind: 'put', table, row, absent: true }))
  if (await to.write(batch, { sync: false, hold: false })) return
  const [first, last] = [page[0], page.at(-1)].map((found) => (found === undefined ? '' : keyText(table, found.row)))
  throw new GuardError(
    copyErrors.COPY_TARGET_OCCUPIED,
    `Table ${table.id}: the target has a row from ${first} to ${last} already, and had not when the copy began. Something else writes to it: stop that, empty the target, and copy again.`,
  )
}
