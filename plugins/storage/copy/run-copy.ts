import { setTimeout as delay } from 'node:timers/promises'
import {
  type Driver,
  type DriverChange,
  type DriverContext,
  GuardError,
  type StorageBackend,
  type Table,
} from 'guard-gateway/core'
import type { Input, Io } from '#lib/command'
import { durationText, groupedText } from '#lib/format'
import { type Compared, compareTable, isEqual } from './compare.ts'
import { copyErrors } from './error-codes.ts'
import { keyText, rowBytes, rowCount, type StoredRow, searchColumn, storedRows } from './stored-rows.ts'

/** A storage that a command line names. */
export interface NamedStorage {
  /** Two names of one storage have the same. */
  readonly id: string
  /** What messages call it; it holds no password. */
  readonly title: string
  /** False for a file that is not there yet; a server's database counts as there. */
  readonly exists: boolean
  readonly backend: StorageBackend
}

/** Finds the storage of a file path or an address. Throws USAGE for what is neither. */
export type StorageAt = (name: string, cwd: string) => Promise<NamedStorage>

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
  const requiredOption = (name: 'from' | 'to'): string => {
    const value = options[name]
    if (typeof value === 'string' && value !== '') return value
    throw new GuardError('USAGE', `Name both databases: --from <database> --to <database>; --${name} is missing.`)
  }
  const [from, to] = [await storageAt(requiredOption('from'), cwd), await storageAt(requiredOption('to'), cwd)]
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

/** Gateways that share a storage count each second. Who has not for so long is dead. */
const DEAD_MS = 6_000
const LOOK_MS = 250
const MOST = 1_000

/** Throws COPY_IN_USE if a gateway is at work on a shared storage. Rows of gateways that were killed are told by counting no more. */
const refuseAlive = async (driver: Driver, tables: readonly Table[], title: string): Promise<void> => {
  const table = tables.find(({ id, columns }) => id === 'instances' && columns.beats !== undefined)
  if (table === undefined || !driver.capabilities.shared) return
  const first = await beatsOf(driver, table)
  const until = performance.now() + DEAD_MS
  while (first.size > 0 && performance.now() < until) {
    await delay(LOOK_MS)
    for (const [id, { beats, who }] of await beatsOf(driver, table))
      if (first.get(id)?.beats !== beats)
        throw new GuardError(
          copyErrors.COPY_IN_USE,
          `A gateway uses ${title}: ${who}. Stop all gateways of this database, and copy again.`,
        )
  }
}

const beatsOf = async (driver: Driver, table: Table) => {
  const order = ['recorded', 'asc'] as const
  const { rows } = await driver.find(table, { where: {}, search: [], order, limit: MOST, after: null })
  return new Map(rows.map(({ id, beats, host, pid }) => [id, { beats, who: `process ${pid} on ${host}` }]))
}

/** Puts the rows of the source after a position into the target, in their order. The next page is read while one is written. */
const copyTable = async (
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

/** Milliseconds between two lines; a terminal's line is drawn anew more often. */
const EVERY_MS = 5_000
const REDRAW_MS = 200

/** Says how far a copy is: rows, rows a second, and how long the rest takes. */
class Progress {
  readonly #io: Io
  readonly #enabled: boolean
  readonly #inPlace: boolean
  readonly #now: () => number
  #what = ''
  #total = 0
  #rows = 0
  #began = 0
  #next = 0
  #drawn = false

  /** `now` in milliseconds. */
  constructor({ options }: Pick<Input, 'options'>, io: Io, now = () => performance.now()) {
    this.#io = io
    this.#enabled = options.quiet !== true && options.progress !== false
    this.#inPlace = (io.err as { readonly isTTY?: boolean }).isTTY === true && io.env.TERM !== 'dumb'
    this.#now = now
  }

  /** Begins to count rows of one kind of work. */
  begin(what: string, total: number): void {
    this.end()
    this.#what = what
    this.#total = total
    this.#rows = 0
    this.#began = this.#now()
    this.#next = this.#began + (this.#inPlace ? REDRAW_MS : EVERY_MS)
  }

  readonly add = (rows: number): void => {
    this.#rows += rows
    if (!this.#enabled) return
    const now = this.#now()
    if (now < this.#next) return
    this.#next = now + (this.#inPlace ? REDRAW_MS : EVERY_MS)
    this.#drawn = this.#inPlace
    this.#io.err.write(this.#inPlace ? `\r${this.#line(now)}\u001b[K` : `${this.#line(now)}\n`)
  }

  /** Erases the line of a terminal. */
  end(): void {
    if (this.#drawn) this.#io.err.write('\r\u001b[K')
    this.#drawn = false
  }

  #line(now: number): string {
    const seconds = Math.max(0.001, (now - this.#began) / 1_000)
    const rate = this.#rows / seconds
    const rest = durationText(Math.max(0, (this.#total - this.#rows) / rate) * 1e9)
    const done = `${groupedText(this.#rows)} of ${groupedText(this.#total)} rows`
    return `${this.#what}: ${done}, ${groupedText(Math.round(rate))}/s, about ${rest} left`
  }
}
