import { type Gateway, GuardError } from 'guard-gateway/core'
import type { McpLogin, McpServer } from 'guard-gateway/lib/mcp-transport'
import { auditedIn } from 'guard-gateway/lib/principal'
import { mcpErrors } from '../error-codes.ts'
import { Attempts, type FinishedLogin } from './attempts.ts'
import { scopesIn } from './challenge.ts'
import { LoginFault } from './login-fault.ts'
import { type KeySettings, type LoginName, LoginRows } from './login-rows.ts'
import { type LoginState, neededAt, stateOf, statesOf } from './login-states.ts'
import { noAgent } from './login-texts.ts'
import { aboutTokens, Renewal } from './renewal.ts'
import { revoke } from './revocation.ts'
import type { LoginIssuer } from './sealed-tokens.ts'
import { SharedLogin } from './session-login.ts'
import type { McpLoginRow } from './tables.ts'

export type { LoginState } from './login-states.ts'

/** Logins of this gateway at MCP servers: begun, finished, shown, renewed, ended. */
export class Logins {
  readonly #gateway: Gateway
  readonly #rows: LoginRows
  readonly #renewal: Renewal
  readonly #attempts: Attempts
  readonly #shared = new Map<string, SharedLogin>()
  readonly #stop = new AbortController()

  constructor(gateway: Gateway, settings: KeySettings) {
    this.#gateway = gateway
    this.#rows = new LoginRows(gateway, settings)
    this.#renewal = new Renewal(gateway, this.#rows, this.#stop.signal)
    this.#attempts = new Attempts(gateway, this.#stop.signal)
  }

  /** What a session shows at its server. `agent_id`: that of the key it was opened with. */
  loginOf(server: McpServer, agent_id: string | null): McpLogin {
    if (server.login?.per !== 'agent') return this.#sharedLogin(server, { server_id: server.id, agent_id: '' })
    if (agent_id !== null) return this.#sharedLogin(server, { server_id: server.id, agent_id })
    return { credential: () => noAgent(server.id), refused: async () => undefined }
  }

  /** Whose login is meant. Throws MCP_LOGIN_OFF where there is none, INVALID_REQUEST where the agent must, or must not, be named. */
  nameOf({ id, login }: McpServer, agent_id: string): LoginName {
    if (login === undefined)
      throw new GuardError(mcpErrors.MCP_LOGIN_OFF, `mcp.servers.${id} has no key "login" in the configuration.`)
    const isEach = login.per === 'agent'
    if (isEach === (agent_id !== '')) return { server_id: id, agent_id }
    throw new GuardError(
      'INVALID_REQUEST',
      isEach
        ? `The MCP server "${id}" has a login for each agent: say which, with --agent <id>.`
        : `The MCP server "${id}" has one login for all agents: name none. "login: { per: agent }" gives each its own.`,
    )
  }

  /** Begins a login; gives the address that a person opens in a browser. Throws MCP_LOGIN_OFF, MCP_LOGIN_FAILED. */
  async begin(server: McpServer, agent_id: string, redirect_uri: string): Promise<string> {
    const name = this.nameOf(server, agent_id)
    return told(async () => this.#attempts.begin(server, name, redirect_uri, await this.#rows.read(name)))
  }

  /** Keeps what a login has brought. Throws MCP_LOGIN_FAILED. */
  async finish(server: McpServer, redirected: string): Promise<LoginState> {
    return told(async () => {
      const login = await this.#attempts.finish(server, redirected)
      const row = await this.#keep(server, login)
      this.#shared.get(keyOf(row))?.forget()
      return stateOf(row, this.#gateway.clock.now())
    })
  }

  /** Ends a login, and asks the authorization server to end it, too. `ended`: there was one. */
  async end(server: McpServer | undefined, name: LoginName): Promise<{ ended: boolean; revoked: boolean }> {
    const held = await this.#rows.read(name)
    if (held === undefined) return { ended: false, revoked: false }
    const key = [name.server_id, name.agent_id]
    const audited = this.#audited('mcp.logout', held.row)
    const ended = await this.#gateway.storage.write([
      { table: 'mcp_logins', key, remove: true, sync: true },
      ...audited,
    ])
    this.#shared.get(keyOf(name))?.forget()
    const isSame = server !== undefined && held.tokens?.target === server.target
    const revoked =
      isSame && held.tokens !== undefined && (await revoke(this.#gateway, server, held.tokens, this.#stop.signal))
    return { ended, revoked }
  }

  /** Those of a server that is configured. */
  async states(server: McpServer): Promise<readonly LoginState[]> {
    return statesOf(server, await this.#rows.list(server.id), this.#gateway.clock.now())
  }

  /** One of them; of an agent that has none, too. */
  async state(server: McpServer, agent_id: string): Promise<LoginState> {
    const found = (await this.states(server)).find((one) => (one.agent_id ?? '') === agent_id)
    return found ?? neededAt(server.id, agent_id)
  }

  /** The address that the browser came back to at the last login, where its client was registered with it. */
  async lastRedirect(server_id: string, agent_id: string): Promise<string | undefined> {
    return (await this.#rows.read({ server_id, agent_id }))?.tokens?.client.registered
  }

  /** Waits for tokens that are being renewed, so that they are kept. */
  async close(): Promise<void> {
    await Promise.all([...this.#shared.values()].map((login) => login.settled()))
    this.#stop.abort()
  }

  async #keep(server: McpServer, login: FinishedLogin): Promise<McpLoginRow> {
    const { server_id, agent_id, given, client, resource, server: at } = login
    const { access_token, refresh_token } = given
    const now = this.#gateway.clock.now()
    const before = await this.#rows.read(login)
    const tokens = {
      ...{ server_id, agent_id, target: server.target ?? '', access_token, resource, client, server: issuerOf(at) },
      ...(refresh_token === undefined ? {} : { refresh_token }),
    }
    const row: McpLoginRow = {
      ...{ server_id, agent_id, sealed: await this.#rows.seal(tokens), version: (before?.row.version ?? 0) + 1 },
      ...{ state: 'ok', reason: null, issuer: at.issuer, wanted: '', logged_in_at: now, renewing_until: 0 },
      ...aboutTokens(given, now),
      scopes: (given.scope === undefined ? login.scopes : scopesIn(given.scope)).join(' '),
      renewable: refresh_token === undefined ? 0 : 1,
    }
    await this.#gateway.storage.write([
      { table: 'mcp_logins', put: row, sync: true },
      ...this.#audited('mcp.login', row),
    ])
    return row
  }

  #audited(action: string, { server_id, agent_id, issuer, scopes }: McpLoginRow) {
    const details = { issuer, scopes, ...(agent_id === '' ? {} : { agent_id }) }
    return auditedIn(this.#gateway.service('audit').get(), { action, subject: server_id, details })
  }

  #sharedLogin(server: McpServer, name: LoginName): SharedLogin {
    const known = this.#shared.get(keyOf(name))
    if (known !== undefined) return known
    const made = new SharedLogin({ gateway: this.#gateway, rows: this.#rows, renewal: this.#renewal }, server, name)
    this.#shared.set(keyOf(name), made)
    return made
  }
}

const keyOf = ({ server_id, agent_id }: LoginName): string => `${server_id} ${agent_id}`

const issuerOf = ({ issuer, token_endpoint = '', revocation_endpoint }: FinishedLogin['server']): LoginIssuer => ({
  ...{ issuer, token_endpoint },
  ...(revocation_endpoint === undefined ? {} : { revocation_endpoint }),
})

/** Tells why a login cannot go on. */
const told = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof LoginFault) throw new GuardError(mcpErrors.MCP_LOGIN_FAILED, error.message)
    throw error
  }
}
