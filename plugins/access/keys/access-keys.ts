import { type Change, type Gateway, GuardError, type Identity } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { newId, newKey, sha256 } from '#lib/ids'
import { pages } from '#lib/paging'
import { actorOf, everyProject, expandScopes, type KeySource, type Principal, type Scope } from '#lib/principal'
import { changedIn } from '#lib/session'
import { accessErrors } from '../error-codes.ts'
import type { AccessKeyRow } from './tables.ts'

const PREFIX_CHARS = 8
const MAX_LIVE_KEYS = 1_000
const MINUTE_MS = 60_000

/** What a new key is asked to be. */
export interface KeyRequest {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly projects: readonly string[] | null
  /** Milliseconds since 1970; null: never. */
  readonly expires_at: number | null
}

/** A key just made; `key` is seen here and never again. */
export interface MadeKey {
  readonly key: string
  readonly row: AccessKeyRow
}

interface LiveKey {
  row: AccessKeyRow
  readonly identity: Identity
  readonly principal: Principal
}

/** The live keys with scopes. Each is looked at anew in the storage from time to time, so that a key that another process made or revoked is found. */
export class AccessKeys implements KeySource {
  readonly #gateway: Gateway
  readonly #byHash = new Map<string, LiveKey>()
  readonly #byId = new Map<string, LiveKey>()
  readonly #lookups: KeyLookups
  /** Ends when every use noted so far is written. */
  #noted: Promise<unknown> = Promise.resolve()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
    this.#lookups = new KeyLookups(gateway, (hash) => this.#read(hash))
  }

  get size(): number {
    return this.#byId.size
  }

  /** Some live key may administer; without one nobody can beyond loopback. */
  get hasAdmin(): boolean {
    return [...this.#byId.values()].some((live) => this.#holds(live) && live.principal.scopes.has('admin'))
  }

  identify(hash: string): Identity | undefined {
    const live = this.#byHash.get(hash)
    if (live === undefined || !this.#holds(live)) return undefined
    this.#used(live)
    return live.identity
  }

  isLive(id: string): boolean {
    return this.principalOf(id) !== undefined
  }

  lookUp(hash: string): Promise<void> | undefined {
    return this.#lookups.lookUp(hash)
  }

  /** Reads all live keys anew. */
  async refresh(): Promise<void> {
    const found = new Map<string, AccessKeyRow>()
    const { storage } = this.#gateway
    await everyProject(async () => {
      for await (const page of pages(storage, 'access_keys', { where: { revoked_at: null } }))
        for (const row of page) found.set(row.hash, row)
    })
    for (const [hash, live] of this.#byHash) if (!found.has(hash)) this.#drop(live.row)
    for (const row of found.values()) this.#keep(row)
    this.#lookups.forget()
  }

  /** Whoever shows this key; undefined if it is not live. */
  principalOf(keyId: string): Principal | undefined {
    const live = this.#byId.get(keyId)
    return live !== undefined && this.#holds(live) ? live.principal : undefined
  }

  /** The same, after a look into the storage where that is due. */
  async currentPrincipalOf(keyId: string): Promise<Principal | undefined> {
    const hash = this.#byId.get(keyId)?.row.hash ?? (await this.#hashOf(keyId))
    if (hash !== undefined) await this.lookUp(hash)
    return this.principalOf(keyId)
  }

  /** Makes a key, written in one batch with `more`. Throws TOO_MANY_KEYS. */
  async create(request: KeyRequest, more: (row: AccessKeyRow) => readonly Change[]): Promise<MadeKey> {
    if (this.size >= MAX_LIVE_KEYS) throw new GuardError(accessErrors.TOO_MANY_ACCESS_KEYS)
    const created_at = this.#gateway.clock.now()
    const key = newKey('gak_')
    const row: AccessKeyRow = {
      id: newId('akey_', created_at),
      ...request,
      hash: sha256(key),
      prefix: key.slice(0, PREFIX_CHARS),
      created_at,
      created_by: actorOf().name,
      last_used_at: null,
      revoked_at: null,
    }
    const put: Change = { table: 'access_keys', put: row, when: 'absent', sync: true }
    if (!(await this.#gateway.storage.write([put, ...more(row), ...this.#changed()])))
      throw new GuardError('STORAGE_BUSY')
    this.#keep(row)
    return { key, row }
  }

  /** Ends a key at once; durable when it resolves. If that fails the key stays shut here and can be revoked again. */
  async revoke(row: AccessKeyRow, more: readonly Change[]): Promise<void> {
    this.#drop(row)
    const patch = { revoked_at: this.#gateway.clock.now() }
    await this.#gateway.storage.write([
      { table: 'access_keys', key: row.id, patch, sync: true },
      ...more,
      ...this.#changed(),
    ])
  }

  /** Resolves when every use noted so far is written. */
  async noted(): Promise<void> {
    await this.#noted
  }

  /** Tells the other processes, where there are some. */
  #changed(): readonly Change[] {
    return changedIn(this.#gateway.service('cluster').get())
  }

  async #hashOf(keyId: string): Promise<string | undefined> {
    return (await everyProject(() => this.#gateway.storage.get('access_keys', keyId)))?.hash
  }

  async #read(hash: string): Promise<boolean> {
    const { rows } = await everyProject(() => this.#gateway.storage.find('access_keys', { where: { hash }, limit: 1 }))
    const [row] = rows
    const known = this.#byHash.get(hash)
    if (row !== undefined && row.revoked_at === null) this.#keep(row)
    else if (known !== undefined) this.#drop(known.row)
    return row !== undefined
  }

  #holds({ row: { expires_at } }: LiveKey): boolean {
    return expires_at === null || expires_at > this.#gateway.clock.now()
  }

  /** Notes the use, to the minute; the write is not awaited. */
  #used(live: LiveKey): void {
    const at = this.#gateway.clock.now()
    const last_used_at = at - (at % MINUTE_MS)
    if ((live.row.last_used_at ?? 0) >= last_used_at) return
    live.row = { ...live.row, last_used_at }
    this.#noted = this.#noted
      .then(() => this.#gateway.storage.patch('access_keys', live.row.id, { last_used_at }))
      .catch((error: unknown) => this.#gateway.fault(error, 'access:key_used'))
  }

  #keep(row: AccessKeyRow): void {
    const known = this.#byHash.get(row.hash)
    const last_used_at = Math.max(row.last_used_at ?? 0, known?.row.last_used_at ?? 0) || null
    const scopes = expandScopes(row.scopes)
    const { id: key_id, name, projects } = row
    const live: LiveKey = {
      row: { ...row, last_used_at },
      identity: { agent_id: null, key_id, scopes, projects },
      principal: { name, kind: 'key', scopes, projects, key_id },
    }
    this.#byHash.set(row.hash, live)
    this.#byId.set(row.id, live)
  }

  #drop(row: AccessKeyRow): void {
    this.#byHash.delete(row.hash)
    this.#byId.delete(row.id)
  }
}

/** What a look into the storage found is believed for this long. */
const FRESH_MS = 5_000
const MAX_REMEMBERED = 10_000
/** Beyond this, unknown keys are refused without a look. */
const MAX_AT_ONCE = 32

/** Looks for keys in the storage, each at most once in a while, and few at once however many are tried. */
class KeyLookups {
  readonly #gateway: Gateway
  readonly #read: (hash: string) => Promise<unknown>
  /** When a hash was looked for last, monotonic milliseconds. */
  readonly #looked = new LRU<number>(MAX_REMEMBERED)
  readonly #running = new Map<string, Promise<void>>()

  constructor(gateway: Gateway, read: (hash: string) => Promise<unknown>) {
    this.#gateway = gateway
    this.#read = read
  }

  /** Undefined: what is known of it is fresh. */
  lookUp(hash: string): Promise<void> | undefined {
    const running = this.#running.get(hash)
    if (running !== undefined) return running
    const looked = this.#looked.get(hash)
    const now = this.#gateway.clock.tick()
    if ((looked !== undefined && now - looked < FRESH_MS) || this.#running.size >= MAX_AT_ONCE) return undefined
    // while the storage fails, what is known holds
    const work = this.#read(hash)
      .then(() => {})
      .catch((error: unknown) => this.#gateway.fault(error, 'access:key_lookup'))
      .finally(() => {
        this.#running.delete(hash)
        this.#looked.set(hash, this.#gateway.clock.tick())
      })
    this.#running.set(hash, work)
    return work
  }

  /** Every hash may be looked for anew. */
  forget(): void {
    this.#looked.clear()
  }
}
