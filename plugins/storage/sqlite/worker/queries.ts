import type { Database } from 'better-sqlite3'
import type { Table } from 'guard-gateway/core'
import { type Compiled, getSql, pruneSql, pruneWordsSql } from '../../kysely/query.ts'
import { type Shape, type SqlValue, searchColumn } from '../../kysely/shape.ts'
import { type FromWorker, type RawPage, rawEnd, type WorkerQuery } from '../protocol.ts'
import { CompiledQuery, ScanCursor } from './compiled-query.ts'
import { compiler } from './compiler.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Statements } from './statements.ts'

type Answer = Extract<FromWorker, { readonly kind: 'answer' }>['value']
type Step = { readonly done: false } | { readonly done: true; readonly value: Answer }

/** The most pages that one removal gives back to the file system. */
const FREED_PAGES = 2_000
/** The most queries that stay compiled. */
const MAX_COMPILED = 500

/** Answers queries, a long one in several steps. */
export class Queries {
  readonly #db: Database
  readonly #group: GroupCommit
  readonly #statements: Statements
  readonly #shape: (number: number) => { readonly table: Table; readonly shape: Shape }
  readonly #gets = new Map<string, Compiled>()
  readonly #compiled = new Map<number, CompiledQuery>()
  readonly #scans = new Map<number, PagedScan>()
  readonly #sums = new Map<number, SumScan>()

  constructor(
    db: Database,
    group: GroupCommit,
    statements: Statements,
    shape: (number: number) => { readonly table: Table; readonly shape: Shape },
  ) {
    this.#db = db
    this.#group = group
    this.#statements = statements
    this.#shape = shape
  }

  /** Does one step of a query; `done: false` if more steps are needed. Throws errors of SQLite. */
  step(query: WorkerQuery): Step {
    if (query.kind === 'find') return this.#find(query)
    if (query.kind === 'sum') return this.#sum(query)
    if (query.kind === 'get') return { done: true, value: this.#get(query) }
    return { done: true, value: query.kind === 'prune' ? this.#prune(query) : this.#bytes() }
  }

  /** Drops the state of a query that failed. */
  drop(id: number): void {
    this.#scans.delete(id)
    this.#sums.delete(id)
  }

  #find(query: Extract<WorkerQuery, { readonly kind: 'find' }>): Step {
    let scan = this.#scans.get(query.id)
    if (scan === undefined) {
      scan = new PagedScan(this.#compiledQuery(query.shape), query)
      this.#scans.set(query.id, scan)
    }
    const value = scan.step()
    if (value === undefined) return { done: false }
    this.#scans.delete(query.id)
    return { done: true, value }
  }

  #sum(query: Extract<WorkerQuery, { readonly kind: 'sum' }>): Step {
    const scan = this.#sums.get(query.id) ?? new SumScan(this.#compiledQuery(query.shape), query)
    const value = scan.step()
    if (value === undefined) {
      this.#sums.set(query.id, scan)
      return { done: false }
    }
    this.#sums.delete(query.id)
    return { done: true, value }
  }

  #compiledQuery(number: number): CompiledQuery {
    const cached = this.#compiled.get(number)
    if (cached !== undefined) return cached
    const { table, shape } = this.#shape(number)
    if (shape.kind !== 'find' && shape.kind !== 'sum') throw new TypeError(`shape ${number} is no query`)
    if (this.#compiled.size >= MAX_COMPILED) this.#compiled.clear()
    const query = new CompiledQuery(table, shape, this.#statements)
    this.#compiled.set(number, query)
    return query
  }

  #get({ shape, values }: Extract<WorkerQuery, { readonly kind: 'get' }>): readonly SqlValue[] | undefined {
    const { table } = this.#shape(shape)
    let get = this.#gets.get(table.id)
    if (get === undefined) {
      get = getSql(compiler, table)
      this.#gets.set(table.id, get)
    }
    return this.#statements.get(get.sql).raw().get(values) as SqlValue[] | undefined
  }

  #prune({ shape: number, values, limit }: Extract<WorkerQuery, { readonly kind: 'prune' }>): number {
    const { table, shape } = this.#shape(number)
    if (shape.kind !== 'prune') throw new TypeError(`shape ${number} is no removal`)
    const { sql, take } = pruneSql(compiler, table, shape)
    const bound = take.map((place) => [...values, limit][place])
    const removed = this.#group.transact(false, () => {
      const rows = this.#statements.get(sql).pluck().all(bound)
      if (searchColumn(table) !== undefined)
        this.#statements.get(pruneWordsSql(compiler, table).sql).run(JSON.stringify(rows))
      return rows.length
    })
    if (removed instanceof Error) throw removed
    if (removed > 0) this.#db.pragma(`incremental_vacuum(${FREED_PAGES})`)
    return removed
  }

  #bytes(): number {
    const pages = ['page_count', 'freelist_count'].map((name) => Number(this.#db.pragma(name, { simple: true })))
    return ((pages[0] ?? 0) - (pages[1] ?? 0)) * Number(this.#db.pragma('page_size', { simple: true }))
  }
}

type SumQuery = Extract<WorkerQuery, { readonly kind: 'sum' }>

/** Rows that one step adds up. */
const STEP_ROWS = 5_000

/** A sum that is running. Each step adds up a limited number of rows, so that no commit waits for all of them. */
class SumScan {
  readonly #cursor: ScanCursor
  /** How many values of a group come before its sums. */
  readonly #by: number
  readonly #groups = new Map<string, SqlValue[]>()

  constructor(query: CompiledQuery, { values, by }: SumQuery) {
    this.#cursor = new ScanCursor(query, values, null)
    this.#by = by
  }

  /** Does one step. Returns the groups when all rows are added up, else undefined. */
  step(): readonly (readonly SqlValue[])[] | undefined {
    const end = this.#cursor.bound(STEP_ROWS)
    for (const group of this.#cursor.rows(end, 0)) this.#add(group)
    if (end !== undefined) this.#cursor.advance(end)
    else if (!this.#cursor.nextPhase()) return [...this.#groups.values()]
    return undefined
  }

  #add(group: SqlValue[]): void {
    const name = JSON.stringify(group.slice(0, this.#by))
    const known = this.#groups.get(name)
    if (known === undefined) this.#groups.set(name, group)
    else for (let at = this.#by; at < group.length; at++) known[at] = Number(known[at]) + Number(group[at])
  }
}

type FindQuery = Extract<WorkerQuery, { readonly kind: 'find' }>

/** Rows examined in the first step of a query that tests rows one by one, in each later step, and for one page. */
const FIRST_STEP_ROWS = 500
const MAX_PAGE_ROWS = 50_000
/** Rows examined for one page of a token search, which looks each row up separately. */
const MAX_SEARCH_ROWS = 10_000

/** A query that is running. Each step examines a limited number of rows, so that no commit waits for a long read. */
class PagedScan {
  readonly #query: CompiledQuery
  readonly #cursor: ScanCursor
  readonly #limit: number
  readonly #rows: SqlValue[][] = []
  #scanned = 0

  constructor(query: CompiledQuery, { values, after, limit }: FindQuery) {
    this.#query = query
    this.#cursor = new ScanCursor(query, values, after)
    this.#limit = limit
  }

  /** Does one step. Returns the page when it is complete, else undefined. */
  step(): RawPage | undefined {
    const count = this.#scanned === 0 ? FIRST_STEP_ROWS : STEP_ROWS
    const end = this.#query.scan.exact ? undefined : this.#cursor.bound(count)
    this.#rows.push(...this.#cursor.rows(end, this.#limit - this.#rows.length + 1))
    if (this.#rows.length > this.#limit) return this.#page()
    if (end === undefined) return this.#cursor.nextPhase() ? undefined : this.#lastPage()
    this.#scanned += count
    this.#cursor.advance(end)
    const most = this.#query.scan.by === 'words' ? MAX_SEARCH_ROWS : MAX_PAGE_ROWS
    return this.#scanned < most ? undefined : { rows: this.#rows, next: end, truncated: true }
  }

  #page(): RawPage {
    this.#rows.length = this.#limit
    const last = this.#rows.at(-1)
    return { rows: this.#rows, next: last === undefined ? null : rawEnd(last), truncated: false }
  }

  #lastPage(): RawPage {
    return { rows: this.#rows, next: null, truncated: false }
  }
}
