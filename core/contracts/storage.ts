import type { AnyWhere, DriverSum, Found, Group, Order, Query, Scalar, Sum, Where } from './storage-query.ts'

/** Row types by table name. A feature adds its own by declaration merging: `declare module 'guard-gateway/core' { interface Tables { runs: Run } }`. */
export interface Tables {}

/** The type of a column. An `int64` is a bigint; `search` is a list of tokens, which is indexed and never returned. Any column outside of the key may be null. */
export type Column = 'text' | 'integer' | 'int64' | 'real' | 'boolean' | 'json' | 'search'

/** The schema of a table. It is plain data, since it is posted to other threads. */
export interface Table {
  readonly id: string
  /** The text columns that identify a row; `['id']` if absent. */
  readonly key?: readonly string[]
  readonly columns: Readonly<Record<string, Column>>
  /** Indexes: the columns to order and filter by. `recorded`, the order of first put, may be the last column. */
  readonly indexes?: readonly (readonly string[])[]
  /** Indexes of columns that are null in most rows. A row whose first column of the index is null is not in the index and costs nothing. */
  readonly sparse?: readonly (readonly string[])[]
  /** Unique indexes: no two rows have the same values in these columns, apart from null. */
  readonly unique?: readonly (readonly string[])[]
  /** Columns that have the same value in most rows. A backend may use that to write faster. */
  readonly repeated?: readonly string[]
  /** Text, search and json columns that are stored without redaction: enumerations, hashes, and ids that were checked already. */
  readonly exact?: readonly string[]
}

/** A row, as backends receive it. */
export type AnyRow = Readonly<Record<string, unknown>>
/** Addends, as backends receive them: at least one, by columns that are integers and no part of the key. */
export type AnySums = Readonly<Record<string, number>>

type Only<K extends string> = { readonly [N in Exclude<'put' | 'patch' | 'add' | 'remove', K>]?: undefined }
type Put<R> = { readonly put: R; readonly when?: 'absent' } & Only<'put'>
type Patch<R> = { readonly key: Key; readonly patch: Partial<R>; readonly expected?: Where<R> } & Only<'patch'>
type Add<R> = { readonly key: Key; readonly add: Addends<R> } & Only<'add'>
type Remove = { readonly key: Key; readonly remove: true } & Only<'remove'>
/** `sync`: the batch survives a power cut once its promise resolves. */
type ChangeOf<N, R> = { readonly table: N; readonly sync?: boolean } & (Put<R> | Patch<R> | Add<R> | Remove)

/** Numbers to add, by integer column: safe integers, negative ones too. */
export type Addends<R> = { readonly [C in keyof R as NonNullable<R[C]> extends number ? C : never]?: number }

/**
 * One change of a batch. `put` writes the whole row; columns that it leaves out are null. `patch` changes some columns, `remove` deletes the row.
 * `add` adds to integer columns, null counting as 0, and inserts the row if it does not exist. It never fails: a sum stops at ±(2^53 − 1).
 */
export type Change = { [N in TableName]: ChangeOf<N, Tables[N]> }[TableName]

/** The values of the key columns, in the order of `table.key`; a string for a key of one column. */
export type Key = string | readonly string[]
export type TableName = keyof Tables & string

/** `busy`: a commit takes over a second. `full`: the disk is full. `failing`: the database cannot be written for another reason. */
export type StorageState = 'ok' | 'busy' | 'full' | 'failing'

/** What a backend can do beyond the minimum. `search`: it can search tokens. `shared`: several gateways may write the same sessions. */
export interface Capabilities {
  readonly search: 'tokens' | 'none'
  readonly shared: boolean
}

export interface WriteOptions {
  /** While the disk is full or the database fails, keep the batch until it can be written, instead of refusing it. */
  readonly hold?: boolean
  /** Resolve as soon as the batch survives the death of the process, which may be before its conditions are tested. Called if a condition fails then; nothing of the batch is written in that case. A batch that was resolved is held. If the process dies before the promise that this returns settles, the next process writes those changes of the batch whose conditions hold, and each `add` only if the first change of the batch holds: make that one `absent`, and nothing is added twice. */
  readonly onRefused?: () => void | Promise<void>
}

export interface Reader {
  /** Whether the table exists: the feature that declares it may be absent. */
  has(table: TableName): boolean
  get<N extends TableName>(table: N, key: Key): Promise<Tables[N] | undefined>
  find<N extends TableName>(table: N, query?: Query<Tables[N]>): Promise<Found<Tables[N]>>
}

/** Writes the deferred changes of a row, or of all rows of a table without a key; undefined if there are none. */
export type FlushDeferred = (key?: Key) => Promise<unknown> | undefined

/** The storage that features use. Every write is redacted before it is stored. */
export interface Storage extends Reader {
  /** Registers a writer that defers its writes. `flush` is called, and awaited, before this process reads a row of the table. */
  beforeReads<N extends TableName>(table: N, flush: FlushDeferred): void
  readonly capabilities: Capabilities
  readonly state: StorageState
  /** What an operator must know beside the state, in sentences; mostly empty. */
  readonly notes: readonly string[]
  /** Size of the journal in bytes; undefined without a journal. */
  readonly journal_bytes: number | undefined
  /**
   * Adds up columns of all rows that meet the tests, in groups without an order. It runs in steps, so that no write waits for it.
   * A row that is written or removed meanwhile may be counted or not.
   */
  sum<N extends TableName, B extends keyof Tables[N] & string, O extends keyof Tables[N] & string>(
    table: N,
    query: Sum<Tables[N], B, O>,
  ): Promise<readonly Group<B, O>[]>
  /** Calls `listener` at each change of the state. The returned function removes the listener. */
  onState(listener: (state: StorageState) => void): () => void
  /** Writes a row. Resolves to false, and writes nothing, if the row exists and `when` is `absent`, or if a unique column is taken. */
  put<N extends TableName>(table: N, row: Tables[N], when?: 'absent'): Promise<boolean>
  /** Compare and set. Resolves to false, and writes nothing, if the row does not exist or does not meet `expected`. */
  patch<N extends TableName>(
    table: N,
    key: Key,
    changes: Partial<Tables[N]>,
    expected?: Where<Tables[N]>,
  ): Promise<boolean>
  /** Removes up to `limit` rows. Resolves to the number of removed rows. */
  remove<N extends TableName>(table: N, where: Where<Tables[N]>, limit: number): Promise<number>
  /** Resolves when the conditions of all earlier batches are tested. It does not wait for held batches. */
  flush(): Promise<void>
  /** Writes a batch completely or not at all. Resolves when the batch is durable; to false, with nothing written, if a condition failed. */
  write(batch: readonly Change[], options?: WriteOptions): Promise<boolean>
  /** Runs `work` under an exclusive lock on this row, then commits the batch that it returns. Throws STORAGE_BUSY if a condition of the batch failed. */
  exclusive<N extends TableName, T>(
    table: N,
    key: Key,
    work: (read: Reader) => Promise<readonly [result: T, batch: readonly Change[]]>,
  ): Promise<T>
  /** Bytes that the rows take, about. */
  bytes(): Promise<number>
  /** Resolves when all earlier writes are durable. May be called again. Later calls are refused with STORAGE_UNAVAILABLE. */
  close(): Promise<void>
}

/** A change, as backends receive it: names are checked, values redacted, keys are lists. */
export type DriverChange =
  | { readonly kind: 'put'; readonly table: Table; readonly row: AnyRow; readonly absent: boolean }
  | {
      readonly kind: 'patch'
      readonly table: Table
      readonly key: readonly string[]
      readonly changes: AnyRow
      readonly expected: AnyWhere
    }
  | { readonly kind: 'add'; readonly table: Table; readonly key: readonly string[]; readonly sums: AnySums }
  | { readonly kind: 'remove'; readonly table: Table; readonly key: readonly string[] }

/** The position of a row in an order, or of the end of a page: the value of the order column, and `recorded`. */
export interface Position {
  readonly value: Scalar | null
  readonly recorded: number
}

/** A query, as backends receive it: complete, names are checked, and an index serves its order. */
export interface DriverQuery {
  readonly where: AnyWhere
  readonly search: readonly string[]
  readonly order: Order
  readonly limit: number
  readonly after: Position | null
}

export interface DriverPage {
  readonly rows: readonly AnyRow[]
  /** The position of each row. */
  readonly positions: readonly Position[]
  readonly next: Position | null
  readonly truncated: boolean
}

export interface DriverWriteOptions {
  readonly sync: boolean
  readonly hold: boolean
  readonly onRefused?: WriteOptions['onRefused'] | undefined
}

/** What a backend implements. Values are read as they were written, also bigint, null and `__proto__` members. Columns that were never set are null. */
export interface Driver {
  readonly capabilities: Capabilities
  readonly state: StorageState
  /** Absent: no notes. */
  readonly notes?: readonly string[]
  /** Absent: no journal. */
  readonly journal_bytes?: number
  onState(listener: (state: StorageState) => void): () => void
  get(table: Table, key: readonly string[]): Promise<AnyRow | undefined>
  find(table: Table, query: DriverQuery): Promise<DriverPage>
  sum(table: Table, query: DriverSum): Promise<readonly Group[]>
  /** Writes a batch completely or not at all; false if a condition failed. Changes apply in order: each sees the earlier ones. */
  write(batch: readonly DriverChange[], options: DriverWriteOptions): Promise<boolean>
  /** Absent: no batch is answered before its conditions are tested. */
  flush?(): Promise<void>
  remove(table: Table, where: AnyWhere, limit: number): Promise<number>
  /** Locks the row against other processes too; absent if only one process may use the storage. */
  exclusive?<T>(
    table: Table,
    key: readonly string[],
    work: (read: DriverReader) => Promise<readonly [result: T, batch: readonly DriverChange[]]>,
  ): Promise<T>
  bytes(): Promise<number>
  /** For copies into another storage: tokens of the rows behind the position `after`, in order of `recorded`. It may take minutes. Absent: tokens cannot be read back. */
  tokens?(table: Table, after: number): AsyncIterable<RowTokens>
  /** Those of a row's tokens that this storage would keep. Absent: all. */
  storedTokens?(tokens: readonly string[]): readonly string[]
  /** Names of all tables that plugins have stored rows in, also of those that no plugin declares now. */
  storedTables?(): Promise<readonly string[]>
  close(): Promise<void>
}

/** The distinct tokens of the row at a position, in any order. A row without tokens may be left out. */
export interface RowTokens {
  readonly recorded: number
  readonly tokens: readonly string[]
}

export type DriverReader = Pick<Driver, 'get' | 'find'>

export interface DriverContext {
  /** Reports a failure that no caller waits for. */
  readonly fault: (error: unknown, where: string) => void
  /** Another gateway may use the same storage at the same time: take no lock that excludes it. */
  readonly beside?: boolean
}

/** A kind of storage, such as SQLite or memory. */
export interface StorageBackend {
  readonly id: string
  /** Opens the storage. Adds missing tables, columns and indexes, and changes nothing else in them. */
  open(tables: readonly Table[], context: DriverContext): Promise<Driver>
}

/** What happens to requests in shadow mode while nothing can be recorded: they are refused, or forwarded without a record. */
export type OnStorageFailure = 'refuse' | 'forward'

/** Who opens, holds and closes the storage of a gateway. */
export interface Store {
  /** Undefined before the gateway opens, and after it has closed. */
  readonly storage: Storage | undefined
  onFailure: OnStorageFailure
}
