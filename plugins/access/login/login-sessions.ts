import { randomBytes } from 'node:crypto'
import type { Gateway } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { everyProject, type Principal } from '#lib/principal'
import type { AccessKeys } from '../keys/access-keys.ts'
import type { LoginRow } from './tables.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Without a request for so long a login ends. */
const IDLE_MS = 12 * HOUR_MS
/** However much it is used. */
const LONGEST_MS = 7 * 24 * HOUR_MS
/** The cookie gets another value when its own is older than this. */
const ROTATED_MS = 15 * MINUTE_MS
/** A value that was replaced still serves requests that were under way. */
const GRACE_MS = MINUTE_MS
const SWEPT_AT_ONCE = 1_000

/** A value for the cookie, and how long it may be kept. */
export interface IssuedLogin {
  readonly value: string
  readonly seconds: number
}

/** Logins of browsers, by the hash of what their cookies hold: any process that has the storage knows them. */
export class LoginSessions {
  readonly #gateway: Gateway
  readonly #keys: AccessKeys

  constructor(gateway: Gateway, keys: AccessKeys) {
    this.#gateway = gateway
    this.#keys = keys
  }

  /** Begins a login with a key, and removes those that have ended. */
  async begin(key_id: string): Promise<IssuedLogin> {
    const now = this.#gateway.clock.now()
    await this.#gateway.storage.remove('logins', { expires_at: { lt: now } }, SWEPT_AT_ONCE)
    return this.#issue(key_id, now, now)
  }

  /** Whose login a cookie stands for; undefined: of none that goes on. The name and rights are those of its key. */
  async principalOf(value: string | undefined): Promise<Principal | undefined> {
    const row = await this.#live(value)
    if (row === undefined) return undefined
    const key = await this.#keys.currentPrincipalOf(row.key_id)
    if (key === undefined) return undefined
    await this.#used(row)
    return { ...key, kind: 'session' }
  }

  /** Another value for the cookie, where its own is old enough; the old one ends soon. */
  async rotated(value: string | undefined): Promise<IssuedLogin | undefined> {
    const row = await this.#live(value)
    const now = this.#gateway.clock.now()
    if (row === undefined || now - row.issued_at < ROTATED_MS) return undefined
    const expires_at = Math.min(row.expires_at, now + GRACE_MS)
    // of requests at once one alone replaces the value
    const isFirst = await this.#gateway.storage.patch(
      'logins',
      row.id,
      { expires_at, issued_at: now },
      { issued_at: row.issued_at },
    )
    return isFirst ? this.#issue(row.key_id, row.created_at, now) : undefined
  }

  /** Ends a login; the value serves nothing more. */
  async end(value: string | undefined): Promise<void> {
    if (value !== undefined)
      await this.#gateway.storage.write([{ table: 'logins', key: sha256(value), remove: true, sync: true }])
  }

  async #issue(key_id: string, created_at: number, now: number): Promise<IssuedLogin> {
    const value = randomBytes(32).toString('base64url')
    const expires_at = Math.min(created_at + LONGEST_MS, now + IDLE_MS)
    const row: LoginRow = { id: sha256(value), key_id, created_at, issued_at: now, last_used_at: now, expires_at }
    await this.#gateway.storage.write([{ table: 'logins', put: row, sync: true }])
    return { value, seconds: Math.floor((created_at + LONGEST_MS - now) / 1_000) }
  }

  async #live(value: string | undefined): Promise<LoginRow | undefined> {
    if (value === undefined) return undefined
    const row = await everyProject(() => this.#gateway.storage.get('logins', sha256(value)))
    return row !== undefined && row.expires_at > this.#gateway.clock.now() ? row : undefined
  }

  /** Puts the end off, at most once a minute; a value that was replaced ends when it was said. */
  async #used(row: LoginRow): Promise<void> {
    const now = this.#gateway.clock.now()
    const isReplaced = row.expires_at - now <= GRACE_MS && row.issued_at > row.last_used_at
    if (isReplaced || now - row.last_used_at < MINUTE_MS) return
    const expires_at = Math.min(row.created_at + LONGEST_MS, now + IDLE_MS)
    await this.#gateway.storage.patch(
      'logins',
      row.id,
      { last_used_at: now, expires_at },
      { issued_at: row.issued_at, last_used_at: row.last_used_at },
    )
  }
}
