import type { Gateway } from 'guard-gateway/core'
import { everyProject } from '#lib/principal'
import { type LoginTokens, seal, unseal } from './sealed-tokens.ts'
import { sealingKey } from './sealing-key.ts'
import type { McpLoginRow } from './tables.ts'

/** Whose login: of a server, and of one agent or (empty) of all. */
export interface LoginName {
  readonly server_id: string
  readonly agent_id: string
}

/** A login as it is kept. `tokens` are undefined where they were encrypted with another key. */
export interface HeldLogin {
  readonly row: McpLoginRow
  readonly tokens: LoginTokens | undefined
}

/** Where the key comes from. */
export interface KeySettings {
  readonly login_key?: string
  readonly login_key_file?: string
}

/** Tokens that other texts are searched for: shorter lived ones come often, and the search must stay fast. */
const MAX_HIDDEN = 200

/** The logins of all gateways that share the storage; tokens stand in it encrypted. */
export class LoginRows {
  readonly #gateway: Gateway
  readonly #settings: KeySettings
  readonly #hidden = new Set<string>()
  #key: Uint8Array | undefined

  constructor(gateway: Gateway, settings: KeySettings) {
    this.#gateway = gateway
    this.#settings = settings
  }

  async read({ server_id, agent_id }: LoginName): Promise<HeldLogin | undefined> {
    const row = await everyProject(() => this.#gateway.storage.get('mcp_logins', [server_id, agent_id]))
    if (row === undefined) return undefined
    const tokens = await unseal(row.sealed, this.#sealingKey(), row)
    if (tokens !== undefined) this.#hide(tokens)
    return { row, tokens }
  }

  /** Without what is encrypted; of one server or all. */
  async list(server_id?: string): Promise<readonly McpLoginRow[]> {
    const where = server_id === undefined ? {} : { server_id }
    const { rows } = await everyProject(() => this.#gateway.storage.find('mcp_logins', { where, limit: 1_000 }))
    return rows.map((row) => ({ ...row, sealed: '' }))
  }

  /** Tokens as they are kept. From now on they are hidden in all that is stored and logged. */
  seal(tokens: LoginTokens): Promise<string> {
    this.#hide(tokens)
    return seal(tokens, this.#sealingKey())
  }

  /** Changes a login that is still of this version; false if it is not. What a renewal brings is kept even while the storage is full. */
  change({ server_id, agent_id, version }: McpLoginRow, patch: Partial<McpLoginRow>): Promise<boolean> {
    const key = [server_id, agent_id]
    return this.#gateway.storage.write([{ table: 'mcp_logins', key, patch, expected: { version }, sync: true }], {
      hold: patch.sealed !== undefined,
    })
  }

  /** Makes this process the one that renews a login; false: another one does, or has. */
  claim({ server_id, agent_id, version }: McpLoginRow, until: number): Promise<boolean> {
    const renewing_until = { lt: this.#gateway.clock.now() }
    const expected = { version, renewing_until }
    return this.#gateway.storage.patch('mcp_logins', [server_id, agent_id], { renewing_until: until }, expected)
  }

  #sealingKey(): Uint8Array {
    this.#key ??= sealingKey(this.#settings.login_key ?? '', this.#settings.login_key_file)
    return this.#key
  }

  #hide({ access_token, refresh_token, client }: LoginTokens): void {
    const { secrets, redact } = this.#gateway
    for (const secret of [access_token, refresh_token, client.client_secret]) {
      if (secret === undefined || this.#hidden.size >= MAX_HIDDEN || this.#hidden.has(secret)) continue
      // what looks like a token is hidden everywhere as it is
      if (redact.text(secret) !== secret) continue
      this.#hidden.add(secret)
      secrets.add(secret)
    }
  }
}
