import { open } from 'node:fs/promises'
import { type Driver, type DriverChange, type DriverContext, GuardError, storage, type Table } from 'guard-gateway/core'
import { readJson, writeJson } from 'guard-gateway/lib/json'
import { KeyedQueue } from 'guard-gateway/lib/keyed-queue'
import { memory } from 'guard-gateway/plugins/storage/memory'

/** Keeps rows in memory and appends every batch as a line to a file. The next start reads the file. The file only grows. */
export const journalIn = (file: string) =>
  storage({ id: 'journal', open: (tables, context) => openJournal(file, tables, context) })

export const journal = journalIn(process.env.JOURNAL_FILE ?? 'guard-journal.jsonl')

const openJournal = async (path: string, tables: readonly Table[], context: DriverContext): Promise<Driver> => {
  const rows = await memory().open(tables)
  const file = await open(path, 'a+', 0o600)
  const text = await file.readFile('utf8')
  // a crash cut a line without its end; its write was never confirmed
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  await file.truncate(Buffer.byteLength(whole))
  for (const line of whole.split('\n').slice(0, -1)) await rows.write(changesIn(line, tables), UNSYNCED)

  /** Applies and writes one batch at a time, so that memory and file have the same order. */
  const queue = new KeyedQueue()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => queue.run('journal', work)
  let broken: unknown
  const append = async (batch: readonly DriverChange[], sync: boolean): Promise<void> => {
    try {
      await file.appendFile(lineOf(batch))
      if (sync) await file.datasync()
    } catch (error) {
      // memory is now ahead of the file; writes fail until a restart reads the file
      broken = error
      context.fault(error, 'storage:journal')
    }
    refuseIfBroken()
  }
  const refuseIfBroken = (): void => {
    if (broken !== undefined)
      throw new GuardError('STORAGE_UNAVAILABLE', `${path} cannot be written. Start again when it can.`, {
        cause: broken,
      })
  }

  return {
    ...rows,
    get state() {
      return broken === undefined ? 'ok' : 'failing'
    },
    write: (batch, options) =>
      inTurn(async () => {
        refuseIfBroken()
        const written = await rows.write(batch, options)
        if (written) await append(batch, options.sync)
        return written
      }),
    remove: (table, where, limit) =>
      inTurn(async () => {
        refuseIfBroken()
        const order = ['recorded', 'asc'] as const
        const { rows: found } = await rows.find(table, { where, limit, order, search: [], after: null })
        const batch = found.map((row): DriverChange => ({ kind: 'remove', table, key: keyOf(table, row) }))
        await rows.write(batch, UNSYNCED)
        await append(batch, false)
        return batch.length
      }),
    close: () =>
      inTurn(async () => {
        await file.datasync()
        await file.close()
        await rows.close()
      }),
  }
}

const UNSYNCED = { sync: false, hold: false }

const keyOf = (table: Table, row: Readonly<Record<string, unknown>>): string[] =>
  (table.key ?? ['id']).map((column) => String(row[column]))

/** Omits the conditions of a batch, which were true when it was applied. */
const lineOf = (batch: readonly DriverChange[]): string =>
  `${writeJson(batch.map((change) => ({ ...change, table: change.table.id, expected: {}, absent: false })))}\n`

const changesIn = (line: string, tables: readonly Table[]): DriverChange[] =>
  (readJson(line) as readonly Record<string, never>[]).flatMap((change) => {
    // a table that no plugin declares any more
    const table = tables.find(({ id }) => id === change.table)
    if (table === undefined) return []
    const values = Object.entries(change.row ?? change.changes ?? {}).map(([name, value]) => [
      name,
      table.columns[name] === 'int64' && value !== null ? BigInt(value as number) : value,
    ])
    const row = Object.fromEntries(values)
    return [{ ...change, table, row, changes: row } as unknown as DriverChange]
  })
