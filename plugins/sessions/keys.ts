import { type Change, type Gateway, GuardError } from 'guard-gateway/core'
import { newId, newKey, sha256 } from '#lib/ids'
import { pages } from '#lib/paging'
import { auditedIn } from '#lib/principal'
import { changedIn } from '#lib/session'
import { sessionErrors } from './error-codes.ts'
import type { AgentKeyRow } from './tables.ts'

const MAX_LIVE_KEYS = 5
const PREFIX_CHARS = 8
const MINUTE_MS = 60_000

/** A key just made; `key` is seen here and never again. */
export interface IssuedKey {
  readonly key: string
  readonly row: AgentKeyRow
}

/** The live keys of all agents. */
export class AgentKeys {
  readonly #gateway: Gateway
  readonly #byId = new Map<string, AgentKeyRow>()
  readonly #byAgent = new Map<string, AgentKeyRow[]>()
  /** Ends when every use noted so far is written. */
  #noted: Promise<unknown> = Promise.resolve()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  get size(): number {
    return this.#byId.size
  }

  /** Reads all live keys, so that they open the proxy. Again: those that another process has made or revoked meanwhile. */
  async load(): Promise<void> {
    const live = new Set<string>()
    for await (const page of pages(this.#gateway.storage, 'agent_keys', { where: { revoked_at: null } })) {
      for (const row of page) {
        live.add(row.id)
        if (this.#byId.has(row.id)) continue
        this.#keep(row)
        this.#gateway.keys.add(row)
      }
    }
    for (const row of [...this.#byId.values()].filter(({ id }) => !live.has(id))) {
      this.#gateway.keys.remove(row.hash)
      this.#drop(row)
    }
  }

  /** The live keys of an agent, oldest first. */
  of(agentId: string): readonly AgentKeyRow[] {
    return (this.#byAgent.get(agentId) ?? []).toSorted((one, other) => one.created_at - other.created_at)
  }

  /** Makes a key, written in one batch with `first`; undefined if a condition of `first` failed. Throws TOO_MANY_KEYS. */
  async issue(agent_id: string, first: readonly Change[] = []): Promise<IssuedKey | undefined> {
    if (this.of(agent_id).length >= MAX_LIVE_KEYS) {
      throw new GuardError(
        sessionErrors.TOO_MANY_KEYS,
        `Agent "${agent_id}" has ${MAX_LIVE_KEYS} live keys, as many as it may have. Revoke one first.`,
      )
    }
    const created_at = this.#gateway.clock.now()
    const key = newKey('gak_')
    const row: AgentKeyRow = {
      id: newId('gk_', created_at),
      agent_id,
      hash: sha256(key),
      prefix: key.slice(0, PREFIX_CHARS),
      created_at,
      last_used_at: null,
      revoked_at: null,
    }
    // kept before it is written: two requests at once must not pass the limit together
    this.#keep(row)
    let written = false
    try {
      written = await this.#gateway.storage.write([
        ...first,
        { table: 'agent_keys', put: row, sync: true },
        ...this.#audited('agent.key_issued', agent_id, row.id),
        ...changedIn(this.#gateway.service('cluster').get()),
      ])
    } finally {
      if (!written) this.#drop(row)
    }
    if (!written) return undefined
    this.#gateway.keys.add(row)
    return { key, row }
  }

  /** Ends a key at once; durable when it resolves. If that fails the key stays shut here and can be revoked again. Throws KEY_NOT_FOUND. */
  async revoke(agentId: string, keyId: string): Promise<void> {
    const row = this.#byId.get(keyId)
    if (row === undefined || row.agent_id !== agentId) {
      const known = this.of(agentId).map((key) => key.id)
      throw new GuardError(
        sessionErrors.KEY_NOT_FOUND,
        `Agent "${agentId}" has no live key "${keyId}"; it has ${known.join(', ') || 'none'}.`,
        { known },
      )
    }
    this.#gateway.keys.remove(row.hash)
    const patch = { revoked_at: this.#gateway.clock.now() }
    const change: Change = { table: 'agent_keys', key: keyId, patch, sync: true }
    await this.#gateway.storage.write([
      change,
      ...this.#audited('agent.key_revoked', agentId, keyId),
      ...changedIn(this.#gateway.service('cluster').get()),
    ])
    this.#drop(row)
  }

  /** Notes that a key was used, to the minute; the write is not awaited. */
  used(keyId: string, at: number): void {
    const row = this.#byId.get(keyId)
    const last_used_at = at - (at % MINUTE_MS)
    if (row === undefined || (row.last_used_at ?? 0) >= last_used_at) return
    row.last_used_at = last_used_at
    this.#noted = this.#noted
      .then(() => this.#gateway.storage.patch('agent_keys', keyId, { last_used_at }))
      .catch((error: unknown) => this.#gateway.fault(error, 'sessions:key_used'))
  }

  /** Resolves when every use noted so far is written. */
  async noted(): Promise<void> {
    await this.#noted
  }

  #audited(action: string, agent_id: string, key_id: string): readonly Change[] {
    return auditedIn(this.#gateway.service('audit').get(), { action, subject: agent_id, details: { key_id } })
  }

  #keep(row: AgentKeyRow): void {
    this.#byId.set(row.id, row)
    this.#byAgent.set(row.agent_id, [...(this.#byAgent.get(row.agent_id) ?? []), row])
  }

  #drop(row: AgentKeyRow): void {
    this.#byId.delete(row.id)
    const left = (this.#byAgent.get(row.agent_id) ?? []).filter((key) => key.id !== row.id)
    if (left.length === 0) this.#byAgent.delete(row.agent_id)
    else this.#byAgent.set(row.agent_id, left)
  }
}
