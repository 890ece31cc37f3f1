import { type Driver, type DriverContext, GuardError, type Table } from 'guard-gateway/core'
import type { Input, Io } from 'guard-gateway/lib/command'
import { durationText, groupedText } from 'guard-gateway/lib/format'
import { refuseAlive } from './alive.ts'
import { type Compared, compareTable, isEqual } from './compare.ts'
import { copyTable } from './copy-table.ts'
import { copyErrors } from './error-codes.ts'
import type { NamedStorage, StorageAt } from './index.ts'
import { Progress } from './progress.ts'
import { rowCount, searchColumn } from './stored-rows.ts'

/** Runs `guard storage copy`. Throws COPY_IN_USE and COPY_TARGET_OCCUPIED before anything is written, and COPY_DIFFERS at the end. */
export const runCopy = async (
  tables: readonly Table[],
  storageAt: StorageAt,
  input: Input,
  io: Io,
): Promise<number> => {
  const [from, to] = await named(storageAt, input, io)
  const began = performance.now()
  const context: DriverContext = { fault: (error) => io.err.write(`${String(error)}\n`) }
  const source = await from.backend.open(tables, context)
  try {
    const target = await to.backend.open(tables, context)
    try {
      await Promise.all([refuseAlive(source, tables, from.title), refuseAlive(target, tables, to.title)])
      refuseLostTokens(tables, source, target, from)
      const undeclared = await undeclaredTables(source, tables)
      if (undeclared.length > 0) io.err.write(`${undeclaredText(undeclared)}\n`)
      const found = await new Copy(source, target, new Progress(input, io)).run(tables)
      print({ from, to, found, undeclared, ns: (performance.now() - began) * 1e6 }, input, io)
      return 0
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** The storages that the command line names. Throws USAGE. */
const named = async (
  storageAt: StorageAt,
  { options }: Input,
  { cwd }: Io,
): Promise<readonly [NamedStorage, NamedStorage]> => {
  const given = (name: 'from' | 'to'): string => {
    const value = options[name]
    if (typeof value === 'string' && value !== '') return value
    throw new GuardError('USAGE', `Name both databases: --from <database> --to <database>; --${name} is missing.`)
  }
  const [from, to] = [await storageAt(given('from'), cwd), await storageAt(given('to'), cwd)]
  if (from.id === to.id)
    throw new GuardError('USAGE', `--from and --to are the same database, ${from.title}. Name another one.`)
  if (!from.exists) throw new GuardError('USAGE', `There is no database ${from.title} to copy from.`)
  return [from, to]
}

const refuseLostTokens = (tables: readonly Table[], from: Driver, to: Driver, { title }: NamedStorage): void => {
  const searched = tables.find((table) => searchColumn(table) !== undefined)
  if (searched === undefined || to.capabilities.search === 'none' || from.tokens !== undefined) return
  throw new GuardError(
    'USAGE',
    `${title} cannot give back the search words of table ${searched.id}, and runs of the copy could not be found by words. Export and import runs instead.`,
  )
}

const undeclaredTables = async (driver: Driver, tables: readonly Table[]): Promise<readonly string[]> => {
  const declared = new Set(tables.map(({ id }) => id))
  return ((await driver.storedTables?.()) ?? []).filter((name) => !declared.has(name)).sort()
}

const undeclaredText = (names: readonly string[]): string =>
  `Not copied: ${names.join(', ')}. No plugin here declares ${names.length === 1 ? 'this table' : 'these tables'}: name the plugin that does under plugins in guard-config.yml, and copy again.`

/** Copies tables in three passes: what the target has already, what is missing, and whether both are the same then. */
class Copy {
  readonly #from: Driver
  readonly #to: Driver
  readonly #progress: Progress

  constructor(from: Driver, to: Driver, progress: Progress) {
    this.#from = from
    this.#to = to
    this.#progress = progress
  }

  async run(tables: readonly Table[]): Promise<readonly Compared[]> {
    const begun: Compared[] = []
    for (const table of tables) begun.push(await this.#begun(table))
    const found: Compared[] = []
    for (const before of begun) found.push((await this.#copied(before)) ? await this.#compared(before.table) : before)
    const unequal = found.filter((table) => !isEqual(table))
    if (unequal.length > 0) throw new GuardError(copyErrors.COPY_DIFFERS, unequal.map(differenceText).join(' '))
    return found
  }

  /** What the target has of a table. Throws COPY_TARGET_OCCUPIED if that is not how the source begins. */
  async #begun(table: Table): Promise<Compared> {
    this.#progress.begin(`comparing ${table.id}`, await rowCount(this.#to, table))
    const found = await compareTable(this.#from, this.#to, table, { whole: false, read: this.#progress.add })
    this.#progress.end()
    if (found.other === undefined) return found
    throw new GuardError(
      copyErrors.COPY_TARGET_OCCUPIED,
      `Table ${table.id}: the target has a row (${found.other}) that is not in the source, or is another one there. Nothing was written. Name an empty database with --to; a copy that was interrupted goes on only from a source that has not changed since.`,
    )
  }

  /** Whether rows were missing. */
  async #copied({ table, after, target }: Compared): Promise<boolean> {
    const missing = (await rowCount(this.#from, table)) - target.rows
    this.#progress.begin(`copying ${table.id}`, missing)
    await copyTable(this.#from, this.#to, table, { after, wrote: this.#progress.add })
    this.#progress.end()
    return missing !== 0
  }

  async #compared(table: Table): Promise<Compared> {
    this.#progress.begin(`checking ${table.id}`, await rowCount(this.#from, table))
    const found = await compareTable(this.#from, this.#to, table, { whole: true, read: this.#progress.add })
    this.#progress.end()
    return found
  }
}

const differenceText = ({ table, source, target, other }: Compared): string =>
  `Table ${table.id}: ${groupedText(source.rows)} rows in the source and ${groupedText(target.rows)} in the target${other === undefined ? '' : `; the first that differs is ${other}`}.`

const print = (
  copied: {
    readonly from: NamedStorage
    readonly to: NamedStorage
    readonly found: readonly Compared[]
    readonly undeclared: readonly string[]
    readonly ns: number
  },
  { options }: Input,
  { out, err }: Io,
): void => {
  const { found, undeclared, ns } = copied
  const tables = found.map(({ table, source }) => ({ table: table.id, rows: source.rows, sha256: source.digest }))
  if (options.json === true) {
    out.write(`${JSON.stringify({ from: copied.from.title, to: copied.to.title, tables, undeclared })}\n`)
    return
  }
  for (const { table, rows, sha256 } of tables.filter((one) => one.rows > 0))
    out.write(`${table.padEnd(24)} ${groupedText(rows).padStart(12)}  sha256 ${sha256.slice(0, 16)}\n`)
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  if (options.quiet !== true)
    err.write(
      `${copied.from.title} and ${copied.to.title} are the same: ${groupedText(rows)} rows in ${durationText(ns)}\n`,
    )
}
