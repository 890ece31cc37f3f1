import { type Gateway, GuardError } from 'guard-gateway/core'
import type { CredentialRefusal, McpLogin, McpServer, NoCredential } from '#lib/mcp-transport'
import { auditedIn } from '#lib/principal'
import { mcpErrors } from '../error-codes.ts'
import { addressRules } from './address-rules.ts'
import { Attempts, type FinishedLogin } from './attempts.ts'
import { challengeOf, scopesIn } from './challenge.ts'
import { LoginFault } from './login-fault.ts'
import { type HeldLogin, type KeySettings, type LoginName, LoginRows } from './login-rows.ts'
import { type LoginState, neededAt, stateOf, statesOf } from './login-states.ts'
import { loginEnded, moreScopes, neverLoggedIn, noAgent, notRenewed, unusable } from './login-texts.ts'
import { requestsOf } from './metadata-request.ts'
import { oauthClient, oauthOptions } from './oauth-calls.ts'
import { aboutTokens, Renewal, renewalDue } from './renewal.ts'
import type { LoginIssuer, LoginTokens } from './sealed-tokens.ts'
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
    return orLoginFailed(async () => this.#attempts.begin(server, name, redirect_uri, await this.#rows.read(name)))
  }

  /** Keeps what a login has brought. Throws MCP_LOGIN_FAILED. */
  async finish(server: McpServer, redirected: string): Promise<LoginState> {
    return orLoginFailed(async () => {
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
    const { server_id, agent_id, token_response, client, resource, server: at } = login
    const { access_token, refresh_token } = token_response
    const now = this.#gateway.clock.now()
    const before = await this.#rows.read(login)
    const tokens = {
      ...{ server_id, agent_id, target: server.target ?? '', access_token, resource, client, server: issuerOf(at) },
      ...(refresh_token === undefined ? {} : { refresh_token }),
    }
    const row: McpLoginRow = {
      ...{ server_id, agent_id, sealed: await this.#rows.seal(tokens), version: (before?.row.version ?? 0) + 1 },
      ...{ state: 'ok', reason: null, issuer: at.issuer, wanted: '', logged_in_at: now, renewing_until: 0 },
      ...aboutTokens(token_response, now),
      scopes: (token_response.scope === undefined ? login.scopes : scopesIn(token_response.scope)).join(' '),
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
const orLoginFailed = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof LoginFault) throw new GuardError(mcpErrors.MCP_LOGIN_FAILED, error.message)
    throw error
  }
}

/** Asks an authorization server to end what it has issued, by RFC 7009; false: it cannot, or does not answer. */
const revoke = async (
  gateway: Gateway,
  server: McpServer,
  { server: at, client: known, refresh_token, access_token }: LoginTokens,
  signal: AbortSignal,
): Promise<boolean> => {
  if (at.revocation_endpoint === undefined) return false
  try {
    await addressRules(server).checked(at.revocation_endpoint, 'The revocation_endpoint of the authorization server')
    const oauth = await import('oauth4webapi')
    const { client, authentication } = await oauthClient(gateway, known)
    const options = await oauthOptions(requestsOf(gateway, server, signal))
    const token = refresh_token ?? access_token
    await oauth.processRevocationResponse(
      await oauth.revocationRequest({ ...at }, client, authentication, token, options),
    )
    return true
  } catch {
    // here the login is over, whatever the other side makes of it
    return false
  }
}

/** So long after it was issued a token that is refused is not renewed again. */
const JUST_ISSUED_MS = 10_000
/** So long a login is used without a look whether another process has ended it. */
const LOOK_AFTER_MS = 5_000

/** The login that all sessions of one server, or of one agent there, show. */
class SharedLogin implements McpLogin {
  readonly #gateway: Gateway
  readonly #server: McpServer
  readonly #name: LoginName
  readonly #rows: LoginRows
  readonly #renewal: Renewal
  #known: { readonly value: string; readonly due: number; readonly looked: number } | undefined
  #looking: Promise<string | NoCredential> | undefined

  constructor(
    parts: { readonly gateway: Gateway; readonly rows: LoginRows; readonly renewal: Renewal },
    server: McpServer,
    name: LoginName,
  ) {
    this.#gateway = parts.gateway
    this.#rows = parts.rows
    this.#renewal = parts.renewal
    this.#server = server
    this.#name = name
  }

  credential(): string | Promise<string | NoCredential> {
    const { now, tick } = this.#clocks()
    const known = this.#known
    if (known !== undefined && now < known.due && tick - known.looked < LOOK_AFTER_MS) return known.value
    return this.#look()
  }

  async refused(credential: string, refusal: CredentialRefusal): Promise<string | NoCredential | undefined> {
    const held = await this.#rows.read(this.#name)
    if (refusal.status === 403) return this.#forbidden(held, refusal)
    // another call, or another process, was quicker
    if (held?.tokens !== undefined && authorizationValue(held) !== credential) return this.#look()
    // a look that began earlier gives what was refused
    await this.settled()
    return this.#look(credential)
  }

  /** The login has changed: it is read again before it is shown. */
  forget(): void {
    this.#known = undefined
    // a look that is under way has seen what was before
    void this.settled().then(() => {
      this.#known = undefined
    })
  }

  /** Resolves when no look is under way. */
  async settled(): Promise<void> {
    await this.#looking?.catch(() => {})
  }

  /** One look at a time, whoever waits for it. `refused`: the credential that the server does not take. */
  #look(refused?: string): Promise<string | NoCredential> {
    this.#looking ??= this.#current(refused).finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #current(refused: string | undefined): Promise<string | NoCredential> {
    this.#known = undefined
    const held = await this.#rows.read(this.#name)
    if (held === undefined || unusable(held, this.#server) !== undefined) return this.#after(held)
    const { now } = this.#clocks()
    if (refused !== undefined && authorizationValue(held) === refused) return this.#replaced(held)
    if (now < renewalDue(held.row)) return this.#remember(held)
    // it is early to renew: where that fails, what there is still serves
    const isLive = now < (held.row.expires_at ?? 0)
    return this.#renewed(held, isLive ? () => this.#remember(held) : undefined)
  }

  /** Another credential in the place of one that the server refuses. */
  async #replaced(held: HeldLogin): Promise<string | NoCredential> {
    if (this.#clocks().now - held.row.issued_at >= JUST_ISSUED_MS) return this.#renewed(held, undefined)
    await this.#renewal.end(held.row, 'the server refuses a token that was only just issued.')
    return this.#after(await this.#rows.read(this.#name))
  }

  async #renewed(held: HeldLogin, instead: (() => string) | undefined): Promise<string | NoCredential> {
    try {
      return this.#after(await this.#renewal.renew(this.#server, held))
    } catch (error) {
      if (!(error instanceof LoginFault)) throw error
      return instead?.() ?? notRenewed(this.#name, error.message)
    }
  }

  #after(held: HeldLogin | undefined): string | NoCredential {
    if (held === undefined) return neverLoggedIn(this.#name)
    const reason = unusable(held, this.#server)
    return reason === undefined ? this.#remember(held) : loginEnded(this.#name, reason)
  }

  #remember(held: HeldLogin): string {
    const { now, tick } = this.#clocks()
    const value = authorizationValue(held)
    const due = renewalDue(held.row)
    // where renewing failed it is tried again soon, and not with each call
    this.#known = {
      value,
      due: due > now ? due : Math.min(now + LOOK_AFTER_MS, held.row.expires_at ?? now),
      looked: tick,
    }
    return value
  }

  async #forbidden(held: HeldLogin | undefined, refusal: CredentialRefusal): Promise<NoCredential | undefined> {
    const { error, scope = '' } = await challengeOf(refusal)
    if (error !== 'insufficient_scope') return undefined
    const requiredScopes = scopesIn(scope)
    if (held !== undefined && held.row.wanted !== scope) await this.#rows.change(held.row, { wanted: scope })
    return moreScopes(this.#name, requiredScopes, this.#server)
  }

  #clocks() {
    const { clock } = this.#gateway
    return { now: clock.now(), tick: clock.tick() }
  }
}

const authorizationValue = ({ tokens }: HeldLogin): string => `Bearer ${tokens?.access_token ?? ''}`
