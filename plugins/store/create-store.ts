import {
  type AnyRow,
  type AnySums,
  type AnyWhere,
  type Driver,
  type DriverChange,
  type DriverReader,
  type FlushDeferred,
  GuardError,
  type Key,
  type Reader,
  type Redactor,
  type Storage,
  type Table,
  type WriteOptions,
} from 'guard-gateway/core'
import { storedId } from '#lib/ids'
import { KeyedQueue } from '#lib/keyed-queue'
import { everyProject } from '#lib/principal'
import { sealCursor } from './cursor.ts'
import { checkSums, keyParts, type Plan, planOf, writtenColumn } from './plan.ts'
import { type LooseReads, withinProjects } from './project-filter.ts'
import { checkQuery, checkSum, checkWhere, type LooseQuery } from './query.ts'

export interface StoreOptions {
  readonly redact: Cleaning['redact']
  /** Json values that were redacted on another way in; they are stored as they are. */
  readonly cleaned?: WeakSet<object>
}

interface LooseChange {
  readonly table: string
  readonly sync?: boolean
  readonly put?: AnyRow
  readonly when?: 'absent'
  readonly key?: Key
  readonly patch?: AnyRow
  readonly add?: AnySums
  readonly expected?: AnyWhere
}

const NO_TESTS: AnyWhere = Object.freeze({})
const NO_OPTIONS: WriteOptions = Object.freeze({})

/** A query for ids as they are stored. */
const stored = <Q extends { readonly where?: AnyWhere }>(query: Q, { redact }: Cleaning): Q => {
  const where = query.where && storedWhere(query.where, redact)
  return where === query.where ? query : { ...query, where }
}

/** What a driver reads for, with names checked and cursors opened and sealed. */
const reader = (
  driver: DriverReader,
  capabilities: Driver['capabilities'],
  has: (name: string) => boolean,
  plan: (name: string) => Plan,
  cleaning: Cleaning,
) => ({
  has,
  get: async (name: string, key: Key): Promise<AnyRow | undefined> => {
    const found = plan(name)
    return driver.get(found.table, cleanKey(found, storedKey(found, keyParts(found, key), cleaning.redact), cleaning))
  },
  find: async (name: string, loose: LooseQuery = {}) => {
    const found = plan(name)
    const query = checkQuery(found, stored(loose, cleaning), capabilities)
    const { rows, positions, next, truncated } = await driver.find(found.table, query)
    const page = { rows, next_cursor: next === null ? null : sealCursor(name, query, next), truncated }
    return loose.cursors === true ? { ...page, cursors: positions.map((at) => sealCursor(name, query, at)) } : page
  },
})

/** Checks a change's names and redacts its values. */
const prepare = (plan: Plan, change: LooseChange, cleaning: Cleaning): DriverChange => {
  const { table } = plan
  if (change.put !== undefined) {
    for (const name of plan.key)
      if (typeof change.put[name] !== 'string')
        throw new TypeError(`A row of table "${table.id}" needs a text in "${name}".`)
    return { kind: 'put', table, row: cleanRow(plan, change.put, cleaning), absent: change.when === 'absent' }
  }
  const key = cleanKey(plan, keyParts(plan, change.key ?? []), cleaning)
  if (change.add !== undefined) return { kind: 'add', table, key, sums: checkSums(plan, change.add) }
  if (change.patch === undefined) return { kind: 'remove', table, key }
  const fixed = plan.key.find((name) => change.patch !== undefined && Object.hasOwn(change.patch, name))
  if (fixed !== undefined)
    throw new TypeError(`"${fixed}" is part of the key of table "${table.id}" and cannot be patched.`)
  const expected = change.expected === undefined ? NO_TESTS : checkWhere(plan, change.expected)
  return { kind: 'patch', table, key, changes: cleanRow(plan, change.patch, cleaning), expected }
}

/** The typed face of a driver: refuses undeclared tables and columns, redacts every write, seals and opens cursors, queues exclusive work by row. */
export const createStore = (
  driver: Driver,
  tables: readonly Table[],
  { redact, cleaned = new WeakSet() }: StoreOptions,
): Storage => {
  const plans = new Map(tables.map((table) => [table.id, planOf(table)]))
  const cleaning: Cleaning = { redact, cleaned }
  const queues = new KeyedQueue()
  let closing: Promise<void> | undefined
  let closed = false
  const whileOpen = (): void => {
    if (closed) throw new GuardError('STORAGE_UNAVAILABLE', 'The storage is closed.')
  }
  const plan = (name: string): Plan => {
    whileOpen()
    const found = plans.get(name)
    if (found === undefined)
      throw new GuardError(
        'UNKNOWN',
        `There is no table "${name}"; there is ${[...plans.keys()].join(', ') || 'none'}.`,
        { known: [...plans.keys()] },
      )
    return found
  }
  const has = (name: string): boolean => plans.has(name)
  const plain = reader(driver, driver.capabilities, has, plan, cleaning)
  const putOff = new Map<string, FlushDeferred>()
  /** What was put off is everybody's, whoever reads first. */
  const flushed = (name: string, key?: Key): Promise<unknown> | undefined => {
    const flush = putOff.get(name)
    return flush && everyProject(() => flush(key))
  }
  const current: LooseReads = {
    get: async (name, key) => {
      await flushed(name, key)
      return plain.get(name, key)
    },
    find: async (name, query) => {
      await flushed(name)
      return plain.find(name, query)
    },
    sum: async (name, query) => {
      const found = plan(name)
      const checked = checkSum(found, stored(query, cleaning))
      await flushed(name)
      return driver.sum(found.table, checked)
    },
  }
  const { get, find, sum } = withinProjects(current, (name) => plan(name).table)
  const read = { has, get, find }
  const prepared = (batch: readonly LooseChange[]) =>
    batch.map((change) => prepare(plan(change.table), change, cleaning))
  const write = async (batch: readonly LooseChange[], options: WriteOptions = NO_OPTIONS): Promise<boolean> => {
    if (batch.length === 0) return true
    return driver.write(prepared(batch), {
      sync: batch.some((change) => change.sync === true),
      hold: options.hold === true,
      onRefused: options.onRefused,
    })
  }

  /** One process is enough: work waits in a queue per row. */
  const queued = <T>(
    name: string,
    key: Key,
    work: (read: Reader) => Promise<readonly [T, readonly LooseChange[]]>,
  ): Promise<T> =>
    queues.run(`${name}\0${keyParts(plan(name), key).join('\0')}`, async () => {
      const [result, batch] = await work(read as Reader)
      if (!(await write(batch))) throw new GuardError('STORAGE_BUSY')
      return result
    })
  const locked = <T>(
    lock: NonNullable<Driver['exclusive']>,
    name: string,
    key: Key,
    work: (read: Reader) => Promise<readonly [T, readonly LooseChange[]]>,
  ): Promise<T> => {
    const found = plan(name)
    return lock.call(driver, found.table, cleanKey(found, keyParts(found, key), cleaning), async (inner) => {
      const [result, batch] = await work(reader(inner, driver.capabilities, has, plan, cleaning) as Reader)
      return [result, prepared(batch)] as const
    }) as Promise<T>
  }

  const store = {
    capabilities: driver.capabilities,
    get notes() {
      return driver.notes ?? []
    },
    get journal_bytes() {
      return driver.journal_bytes
    },
    get state() {
      return driver.state
    },
    onState: (listener: Parameters<Driver['onState']>[0]) => driver.onState(listener),
    ...read,
    sum,
    beforeReads: (name: string, write: FlushDeferred) => void putOff.set(plan(name).table.id, write),
    write,
    put: (name: string, row: AnyRow, when?: 'absent') =>
      write([{ table: name, put: row, ...(when === undefined ? {} : { when }) }]),
    patch: (name: string, key: Key, changes: AnyRow, expected: AnyWhere = NO_TESTS) =>
      write([{ table: name, key, patch: changes, expected }]),
    remove: async (name: string, where: AnyWhere, limit: number) => {
      const found = plan(name)
      return driver.remove(found.table, checkWhere(found, where), limit)
    },
    flush: async () => driver.flush?.(),
    exclusive: <T>(name: string, key: Key, work: (read: Reader) => Promise<readonly [T, readonly LooseChange[]]>) =>
      driver.exclusive === undefined ? queued(name, key, work) : locked(driver.exclusive, name, key, work),
    bytes: async () => {
      whileOpen()
      return driver.bytes()
    },
    close: () => {
      closing ??= driver.close().finally(() => {
        closed = true
      })
      return closing
    },
  }
  // names and columns are checked against the tables at run time, which no type of ours can say
  return store as unknown as Storage
}

/** How rows are redacted; values in `cleaned` were redacted before and are not scanned again. */
interface Cleaning {
  readonly redact: Redactor
  readonly cleaned: WeakSet<object>
}

const cleanTokens = (tokens: readonly string[], { redact }: Cleaning): readonly string[] =>
  tokens.every((token) => redact.text(token) === token)
    ? tokens
    : tokens.filter((token) => redact.text(token) === token)

const cleanValue = (kind: 'text' | 'json' | 'search', value: unknown, cleaning: Cleaning): unknown => {
  if (typeof value === 'object' && value !== null && cleaning.cleaned.has(value)) return value
  if (kind === 'json') return cleaning.redact.value(value)
  if (kind === 'search') return cleanTokens(value as readonly string[], cleaning)
  return typeof value === 'string' ? cleaning.redact.text(value) : value
}

/** The row with its secrets hidden; the same object if there are none. Throws UNKNOWN_COLUMN if a member is not declared. */
const cleanRow = (plan: Plan, row: AnyRow, cleaning: Cleaning): AnyRow => {
  let copy: Record<string, unknown> | undefined
  let place = 0
  for (const name in row) {
    // members mostly stand in the order of the columns
    const expected = plan.written[place]
    const column = expected?.name === name ? expected : writtenColumn(plan, name)
    place = column.place + 1
    if (column.scrub === undefined) continue
    const value = row[name]
    if (value === undefined || value === null) continue
    const clean = cleanValue(column.scrub, value, cleaning)
    if (clean !== value) {
      copy ??= { ...row }
      copy[name] = clean
    }
  }
  return copy ?? row
}

/** Columns of ids from outside, which are stored as `storedId` gives them. */
const IDS = new Set(['project_id', 'agent_id', 'session_id', 'external_id', 'trace_id', 'task_id'])

const asStored = (id: unknown, redact: Redactor): unknown =>
  typeof id === 'string' ? (storedId(id, redact) ?? id) : id

/** The tests with ids as they are stored, so that what was stored under a hash is found by the id that was sent. */
const storedWhere = (where: AnyWhere, redact: Redactor): AnyWhere => {
  let copy: Record<string, AnyWhere[string]> | undefined
  for (const name in where) {
    if (!IDS.has(name)) continue
    const test = where[name]
    const stored = asStored(test, redact)
    if (stored === test) continue
    copy ??= { ...where }
    copy[name] = stored as AnyWhere[string]
  }
  return copy ?? where
}

/** The key of a row to read, as `storedWhere`. */
const storedKey = ({ key }: Plan, parts: readonly string[], redact: Redactor): readonly string[] =>
  parts.map((part, place) => (IDS.has(key[place] ?? '') ? String(asStored(part, redact)) : part))

/** The key as `cleanRow` would have stored it. */
const cleanKey = (plan: Plan, key: readonly string[], { redact }: Cleaning): readonly string[] =>
  key.map((part, place) => (plan.scrubbedKey[place] === true ? redact.text(part) : part))
