import type { Database } from 'better-sqlite3'
import type { Table } from 'guard-gateway/core'
import { type Compiled, getSql, pruneSql, pruneWordsSql } from '../../kysely/query.ts'
import { type Shape, type SqlValue, searchColumn } from '../../kysely/shape.ts'
import { KeyScan } from '../keys/scan.ts'
import type { Ask, FromWorker } from '../protocol.ts'
import { compiler } from './compiler.ts'
import { Finder } from './finder.ts'
import type { Group } from './group.ts'
import type { Statements } from './statements.ts'
import { SumWalk } from './sum-walk.ts'
import { Walk } from './walk.ts'

type Answer = Extract<FromWorker, { readonly kind: 'answer' }>['value']
type Step = { readonly done: false } | { readonly done: true; readonly value: Answer }

/** Pages given back to the file system after a removal. */
const FREED_PAGES = 2_000
/** Kinds of query that stay compiled. */
const MAX_KINDS = 500

/** Answers questions, a long one in several steps. */
export class Asks {
  readonly #db: Database
  readonly #group: Group
  readonly #statements: Statements
  readonly #shape: (number: number) => { readonly table: Table; readonly shape: Shape }
  readonly #gets = new Map<string, Compiled>()
  readonly #finders = new Map<number, Finder>()
  readonly #walks = new Map<number, Walk>()
  readonly #sums = new Map<number, SumWalk>()
  readonly #scans = new Map<number, KeyScan>()

  constructor(
    db: Database,
    group: Group,
    statements: Statements,
    shape: (number: number) => { readonly table: Table; readonly shape: Shape },
  ) {
    this.#db = db
    this.#group = group
    this.#statements = statements
    this.#shape = shape
  }

  /** One step of the answer; `done: false` if there is more to do. Throws what SQLite throws. */
  step(ask: Ask): Step {
    if (ask.kind === 'find') return this.#find(ask)
    if (ask.kind === 'sum') return this.#sum(ask)
    if (ask.kind === 'keys') return this.#keys(ask)
    if (ask.kind === 'get') return { done: true, value: this.#get(ask) }
    return { done: true, value: ask.kind === 'prune' ? this.#prune(ask) : this.#bytes() }
  }

  /** Drops what a question that failed has left. */
  forget(id: number): void {
    this.#walks.delete(id)
    this.#sums.delete(id)
    this.#scans.delete(id)
  }

  #find(ask: Extract<Ask, { readonly kind: 'find' }>): Step {
    let walk = this.#walks.get(ask.id)
    if (walk === undefined) {
      walk = new Walk(this.#finder(ask.shape), ask)
      this.#walks.set(ask.id, walk)
    }
    const value = walk.step()
    if (value === undefined) return { done: false }
    this.#walks.delete(ask.id)
    return { done: true, value }
  }

  #sum(ask: Extract<Ask, { readonly kind: 'sum' }>): Step {
    const walk = this.#sums.get(ask.id) ?? new SumWalk(this.#finder(ask.shape), ask)
    const value = walk.step()
    if (value === undefined) {
      this.#sums.set(ask.id, walk)
      return { done: false }
    }
    this.#sums.delete(ask.id)
    return { done: true, value }
  }

  #keys({ id, shape }: Extract<Ask, { readonly kind: 'keys' }>): Step {
    const scan = this.#scans.get(id) ?? new KeyScan(this.#shape(shape).table, this.#statements)
    const value = scan.step()
    if (value === undefined) {
      this.#scans.set(id, scan)
      return { done: false }
    }
    this.#scans.delete(id)
    return { done: true, value }
  }

  #finder(number: number): Finder {
    const known = this.#finders.get(number)
    if (known !== undefined) return known
    const { table, shape } = this.#shape(number)
    if (shape.kind !== 'find' && shape.kind !== 'sum') throw new TypeError(`shape ${number} is no query`)
    if (this.#finders.size >= MAX_KINDS) this.#finders.clear()
    const finder = new Finder(table, shape, this.#statements)
    this.#finders.set(number, finder)
    return finder
  }

  #get({ shape, values }: Extract<Ask, { readonly kind: 'get' }>): readonly SqlValue[] | undefined {
    const { table } = this.#shape(shape)
    let get = this.#gets.get(table.id)
    if (get === undefined) {
      get = getSql(compiler, table)
      this.#gets.set(table.id, get)
    }
    return this.#statements.get(get.sql).raw().get(values) as SqlValue[] | undefined
  }

  #prune({ shape: number, values, limit }: Extract<Ask, { readonly kind: 'prune' }>): number {
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
