import type { AnyWhere, Found, Order, Query, Scalar, Where } from './storage-query.ts'
import type { DriverSum, Group, Sum } from './storage-sum.ts'

/** Row types by table name. Features merge theirs in: `declare module 'guard-gateway/core' { interface Tables { runs: Run } }`. */
export interface Tables {}

/** What a column holds: `int64` is a bigint, `search` a list of tokens that is indexed and never returned. Any column outside the key may be null. */
export type Column = 'text' | 'integer' | 'int64' | 'real' | 'boolean' | 'json' | 'search'

/** A kind of row that storage keeps. Plain data, since it is posted to other threads. */
export interface Table {
  readonly id: string
  /** Text columns that identify a row; `['id']` if absent. */
  readonly key?: readonly string[]
  readonly columns: Readonly<Record<string, Column>>
  /** Columns to order and filter by. `recorded`, the order of first put, may stand last. */
  readonly indexes?: readonly (readonly string[])[]
  /** Columns to find rows by whose value there is known, as few rows have one: a row whose first column here is null costs nothing. */
  readonly sparse?: readonly (readonly string[])[]
  /** Columns that no two rows share, null apart. */
  readonly unique?: readonly (readonly string[])[]
  /** Columns whose values are the same in most rows, which a backend may write at less cost. */
  readonly repeated?: readonly string[]
  /** Rows are often looked for by a key that none has, as when something may begin: a backend may remember which keys there are. */
  readonly often_absent?: boolean
  /** Text, search and json columns that are stored without redaction: enumerations, hashes, ids already checked. */
  readonly exact?: readonly string[]
}

/** A row as backends see it. */
export type AnyRow = Readonly<Record<string, unknown>>

type Put<R> = { readonly put: R; readonly when?: 'absent'; readonly patch?: undefined; readonly remove?: undefined }
type Patch<R> = {
  readonly key: Key
  readonly patch: Partial<R>
  readonly expected?: Where<R>
  readonly put?: undefined
  readonly remove?: undefined
}
type Remove = { readonly key: Key; readonly remove: true; readonly put?: undefined; readonly patch?: undefined }
/** `sync`: the batch is safe from a power cut before it is answered. */
type ChangeOf<N, R> = { readonly table: N; readonly sync?: boolean } & (Put<R> | Patch<R> | Remove)

/** One step of a batch. `put` writes the whole row; what it leaves out is null. */
export type Change = { [N in TableName]: ChangeOf<N, Tables[N]> }[TableName]

/** Values of the key columns, in the order of `table.key`. */
export type Key = string | readonly string[]
export type TableName = keyof Tables & string

/** Busy: a commit waits over a second. Full: the disk. Failing: the database cannot be written for another reason. */
export type StorageState = 'ok' | 'busy' | 'full' | 'failing'

/** The zero value is the least capable. `shared`: several gateways may write the same sessions. */
export interface Capabilities {
  readonly search: 'tokens' | 'none'
  readonly shared: boolean
}

export interface WriteOptions {
  /** While the disk is full or the database fails, wait until it can be written instead of being refused. */
  readonly hold?: boolean
  /** Resolve as soon as the batch survives the death of the process, which may be before its conditions are looked at: called should one fail then, and nothing be written. What was resolved is held, and after a death before the promise settles that this returns, written as far as it goes. */
  readonly onRefused?: () => void | Promise<void>
}

export interface Reader {
  /** Whether there is such a table, for readers of what a feature keeps that may not be there. */
  has(table: TableName): boolean
  get<N extends TableName>(table: N, key: Key): Promise<Tables[N] | undefined>
  find<N extends TableName>(table: N, query?: Query<Tables[N]>): Promise<Found<Tables[N]>>
}

/** Writes what it has put off of a row, or of all rows of a table if no key is given; undefined where it has put off nothing. */
export type PutOff = (key?: Key) => Promise<unknown> | undefined

/** What features use. Every write is redacted on its way in. */
export interface Storage extends Reader {
  /** For a writer that puts writes off: it is asked, and waited for, before anybody in this process reads a row of the table. */
  beforeReads<N extends TableName>(table: N, putOff: PutOff): void
  readonly capabilities: Capabilities
  readonly state: StorageState
  /** What whoever runs it has to know beside the state, in sentences; mostly nothing. */
  readonly notes: readonly string[]
  /** Length of the journal; undefined where there is none. */
  readonly journal_bytes: number | undefined
  /**
   * Adds up columns of all rows that meet the tests, in steps that keep no write waiting; groups come in no order.
   * A row that is written or removed meanwhile may be in it or not.
   */
  sum<N extends TableName, B extends keyof Tables[N] & string, O extends keyof Tables[N] & string>(
    table: N,
    asked: Sum<Tables[N], B, O>,
  ): Promise<readonly Group<B, O>[]>
  /** Calls `listener` at each change of state; the function returned ends that. */
  onState(listener: (state: StorageState) => void): () => void
  /** False, and nothing written: `when: 'absent'` and the row exists, or a unique column is taken. */
  put<N extends TableName>(table: N, row: Tables[N], when?: 'absent'): Promise<boolean>
  /** Compare and set. False, and nothing written: no such row, or it does not meet `expected`. */
  patch<N extends TableName>(
    table: N,
    key: Key,
    changes: Partial<Tables[N]>,
    expected?: Where<Tables[N]>,
  ): Promise<boolean>
  /** Removes up to `limit` rows; resolves to how many. */
  remove<N extends TableName>(table: N, where: Where<Tables[N]>, limit: number): Promise<number>
  /** Resolves when nothing that was written before waits any more for its conditions to be looked at, unless it is held. */
  flush(): Promise<void>
  /** All or nothing; resolves when durable. False, and nothing written, if one condition failed. */
  write(batch: readonly Change[], options?: WriteOptions): Promise<boolean>
  /** Runs `work` while nobody else runs it for this row, then commits the batch it returns; throws STORAGE_BUSY if that met a failed condition. */
  exclusive<N extends TableName, T>(
    table: N,
    key: Key,
    work: (read: Reader) => Promise<readonly [result: T, batch: readonly Change[]]>,
  ): Promise<T>
  /** Bytes in use, about. */
  bytes(): Promise<number>
  /** Resolves when what was written before is durable; may be called again. What comes later is refused with STORAGE_UNAVAILABLE. */
  close(): Promise<void>
}

/** A change as backends see it: names checked, values redacted, keys as lists. */
export type DriverChange =
  | { readonly kind: 'put'; readonly table: Table; readonly row: AnyRow; readonly absent: boolean }
  | {
      readonly kind: 'patch'
      readonly table: Table
      readonly key: readonly string[]
      readonly changes: AnyRow
      readonly expected: AnyWhere
    }
  | { readonly kind: 'remove'; readonly table: Table; readonly key: readonly string[] }

/** Where a row stands, and where a page ends: value of the order column and `recorded`. */
export interface Position {
  readonly value: Scalar | null
  readonly recorded: number
}

/** A query as backends see it: complete, names checked, its order served by an index. */
export interface DriverQuery {
  readonly where: AnyWhere
  readonly search: readonly string[]
  readonly order: Order
  readonly limit: number
  readonly after: Position | null
}

export interface DriverPage {
  readonly rows: readonly AnyRow[]
  /** Of each row. */
  readonly positions: readonly Position[]
  readonly next: Position | null
  readonly truncated: boolean
}

export interface DriverWriteOptions {
  readonly sync: boolean
  readonly hold: boolean
  readonly onRefused?: WriteOptions['onRefused'] | undefined
}

/** What a backend writes. Values return as they went in, bigint, null and `__proto__` members included; columns never set return null. */
export interface Driver {
  readonly capabilities: Capabilities
  readonly state: StorageState
  /** Absent: nothing to tell. */
  readonly notes?: readonly string[]
  /** Absent: no journal. */
  readonly journal_bytes?: number
  onState(listener: (state: StorageState) => void): () => void
  get(table: Table, key: readonly string[]): Promise<AnyRow | undefined>
  find(table: Table, query: DriverQuery): Promise<DriverPage>
  sum(table: Table, asked: DriverSum): Promise<readonly Group[]>
  /** All or nothing; false if a condition failed. Order counts: a change sees those before it. */
  write(batch: readonly DriverChange[], options: DriverWriteOptions): Promise<boolean>
  /** Absent: nothing is answered before its conditions are looked at. */
  flush?(): Promise<void>
  remove(table: Table, where: AnyWhere, limit: number): Promise<number>
  /** Holds a lock on the row that other processes respect; absent where one process is enough. */
  exclusive?<T>(
    table: Table,
    key: readonly string[],
    work: (read: DriverReader) => Promise<readonly [result: T, batch: readonly DriverChange[]]>,
  ): Promise<T>
  bytes(): Promise<number>
  close(): Promise<void>
}

export type DriverReader = Pick<Driver, 'get' | 'find'>

export interface DriverContext {
  /** Reports a failure that nobody waits for. */
  readonly fault: (error: unknown, where: string) => void
  /** A gateway may be at work on the same storage, and this one works beside it: it takes no lock that excludes the other. */
  readonly beside?: boolean
}

/** A place to keep rows in. */
export interface StorageBackend {
  readonly id: string
  /** Makes sure that the tables exist, adding what is missing and changing nothing else. */
  open(tables: readonly Table[], context: DriverContext): Promise<Driver>
}

/** What happens to shadow-mode requests while nothing can be recorded: refused, or let through unrecorded. */
export type OnStorageFailure = 'refuse' | 'forward'

/** Who opens, holds and closes the storage of a gateway. */
export interface Store {
  /** Undefined before the gateway opens, and after it has closed. */
  readonly storage: Storage | undefined
  onFailure: OnStorageFailure
}
