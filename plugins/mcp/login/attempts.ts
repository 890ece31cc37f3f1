import type { Gateway } from 'guard-gateway/core'
import type { McpServer } from 'guard-gateway/lib/mcp-transport'
import type { AuthorizationServer } from 'oauth4webapi'
import { addressRules } from './address-rules.ts'
import { type Challenge, challengeOf, scopesIn } from './challenge.ts'
import { clientFor } from './client.ts'
import { discover, listOf } from './discovery.ts'
import { LoginFault } from './login-fault.ts'
import type { HeldLogin, LoginName } from './login-rows.ts'
import { requestsOf, type SendRequest } from './metadata-request.ts'
import { type TokenResponse, tokensForCode } from './oauth-calls.ts'
import { isRedirect, redirectParameters } from './redirect-address.ts'
import type { LoginClient } from './sealed-tokens.ts'

/** How long somebody has to log in. */
export const ATTEMPT_MS = 15 * 60_000
const MAX_ATTEMPTS = 100
const OFFLINE = 'offline_access'

/** A login under way. */
interface Attempt extends LoginName {
  readonly server: AuthorizationServer
  readonly client: LoginClient
  readonly resource: string
  readonly scopes: readonly string[]
  readonly redirect_uri: string
  readonly verifier: string
  readonly state: string
  /** Monotonic. */
  readonly begun: number
}

/** Tokens that somebody has logged in for, and what they go with. */
export interface FinishedLogin
  extends Pick<Attempt, 'server' | 'client' | 'resource' | 'scopes' | 'server_id' | 'agent_id'> {
  readonly given: TokenResponse
}

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'guard', version: '1' } },
})

/** Logins under way in this process, by their `state`. */
export class Attempts {
  readonly #gateway: Gateway
  readonly #signal: AbortSignal
  readonly #byState = new Map<string, Attempt>()

  constructor(gateway: Gateway, signal: AbortSignal) {
    this.#gateway = gateway
    this.#signal = signal
  }

  /** Begins a login; gives the address that a person opens. `known`: the login that it replaces. Throws LoginFault. */
  async begin(server: McpServer, name: LoginName, redirect_uri: string, known: HeldLogin | undefined): Promise<string> {
    const { login = { per: 'server' as const }, target = '' } = server
    if (!isRedirect(redirect_uri, login.redirect_uri))
      throw new LoginFault(
        `The browser must come back to ${login.redirect_uri ?? 'an address like http://127.0.0.1:<port>/callback'}.`,
      )
    const send = requestsOf(this.#gateway, server, this.#signal)
    const at = { target: new URL(target), login, rules: addressRules(server), send }
    const found = await discover(at, await challengeAt(send, server))
    const scopes = login.scopes?.length ? login.scopes : scopesFor(found.scopes, found.server, known)
    const client = await clientFor({
      login,
      server: found.server,
      redirect_uri,
      known: known?.tokens?.server.issuer === found.server.issuer ? known.tokens.client : undefined,
      send,
    })
    const oauth = await import('oauth4webapi')
    const verifier = oauth.generateRandomCodeVerifier()
    const state = oauth.generateRandomState()
    const begun = this.#gateway.clock.tick()
    this.#add({ ...name, ...found, client, scopes, redirect_uri, verifier, state, begun })
    return authorizationAddress(found.server, {
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      resource: found.resource,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
      // OpenID Connect gives refresh tokens to who was asked alone
      ...(scopes.includes(OFFLINE) ? { prompt: 'consent' } : {}),
    })
  }

  /** Ends a login with the address that the browser was sent back to. Each attempt serves once. Throws LoginFault. */
  async finish(server: McpServer, redirected: string): Promise<FinishedLogin> {
    const { parameters, address } = redirectParameters(redirected)
    const state = parameters.get('state') ?? ''
    const attempt = this.#byState.get(state)
    const isLate = attempt !== undefined && this.#gateway.clock.tick() - attempt.begun > ATTEMPT_MS
    if (attempt === undefined || attempt.server_id !== server.id || isLate)
      throw new LoginFault(
        'The address belongs to no login that was begun here within the last 15 minutes. Begin again.',
      )
    if (address !== undefined && address !== withoutQuery(attempt.redirect_uri))
      throw new LoginFault(`The browser was to come back to ${attempt.redirect_uri}, and came to another address.`)
    this.#byState.delete(state)
    const send = requestsOf(this.#gateway, server, this.#signal)
    return { ...attempt, given: await tokensForCode(this.#gateway, send, { ...attempt, parameters }) }
  }

  #add(attempt: Attempt): void {
    this.#byState.set(attempt.state, attempt)
    const [oldest] = this.#byState.keys()
    if (this.#byState.size > MAX_ATTEMPTS && oldest !== undefined) this.#byState.delete(oldest)
  }
}

const withoutQuery = (address: string): string => address.replace(/\?.*$/, '')

/** What the server asks of a client that shows nothing. */
const challengeAt = async (send: SendRequest, { target = '', headers }: McpServer): Promise<Challenge> => {
  const accept = 'application/json, text/event-stream'
  const posted = await send(target, {
    method: 'POST',
    headers: { accept, 'content-type': 'application/json', ...headers },
    body: INITIALIZE,
  })
  const isOlder = posted.status === 400 || posted.status === 404 || posted.status === 405
  const answer = isOlder ? await send(target, { headers: { accept: 'text/event-stream', ...headers } }) : posted
  if (answer.status !== 401) return {}
  return challengeOf({ status: 401, headers: [...answer.headers].flat() })
}

/** What is asked for: what the server named, what it has wanted since, and that the login outlives the access token. */
const scopesFor = (
  named: readonly string[],
  { scopes_supported }: AuthorizationServer,
  known: HeldLogin | undefined,
): readonly string[] => {
  const wanted = scopesIn(known?.row.wanted)
  const before = wanted.length === 0 ? [] : scopesIn(known?.row.scopes)
  const offline = listOf(scopes_supported).includes(OFFLINE) ? [OFFLINE] : []
  return [...new Set([...named, ...before, ...wanted, ...offline])]
}

const authorizationAddress = (server: AuthorizationServer, parameters: Readonly<Record<string, string>>): string => {
  const url = new URL(server.authorization_endpoint ?? '')
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}
