import type { Gateway } from 'guard-gateway/core'
import type { AuthorizationServer } from 'oauth4webapi'
import type { McpLoginSettings, McpServer } from '#lib/mcp-transport'
import { type AddressRules, addressRules, displayAddress } from './address-rules.ts'
import { type Challenge, challengeOf, scopeList, scopesIn } from './challenge.ts'
import { LoginFault, spoken } from './login-fault.ts'
import type { HeldLogin, LoginName } from './login-rows.ts'
import { requestsOf, type SendRequest } from './metadata-request.ts'
import { oauthFault, oauthOptions, type TokenResponse, tokensForCode } from './oauth-calls.ts'
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
  readonly token_response: TokenResponse
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
    return { ...attempt, token_response: await tokensForCode(this.#gateway, send, { ...attempt, parameters }) }
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
  const missingScopes = scopesIn(known?.row.wanted)
  const before = missingScopes.length === 0 ? [] : scopesIn(known?.row.scopes)
  const offline = listOf(scopes_supported).includes(OFFLINE) ? [OFFLINE] : []
  return [...new Set([...named, ...before, ...missingScopes, ...offline])]
}

const authorizationAddress = (server: AuthorizationServer, parameters: Readonly<Record<string, string>>): string => {
  const url = new URL(server.authorization_endpoint ?? '')
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

type AuthMethod = LoginClient['auth_method']

/** What a client is chosen by. */
interface ClientChoice {
  readonly login: McpLoginSettings
  readonly server: AuthorizationServer
  readonly redirect_uri: string
  /** Of the login before, at the same authorization server. */
  readonly known: LoginClient | undefined
  readonly send: SendRequest
}

/** This gateway at an authorization server, in the order of the specification: registered by hand, by a client ID metadata document, by dynamic registration. Throws LoginFault. */
const clientFor = async (choice: ClientChoice): Promise<LoginClient> => {
  const { login, server, known, redirect_uri } = choice
  const { client_id, client_secret, client_metadata_url } = login
  if (client_id !== undefined) {
    if (client_secret?.startsWith('${'))
      throw new LoginFault(
        `The variable of the environment is not set that login.client_secret names: ${client_secret}.`,
      )
    if (client_secret === undefined || client_secret === '') return { client_id, auth_method: 'none' }
    return { client_id, client_secret, auth_method: secretMethod(server) }
  }
  if (client_metadata_url !== undefined && server.client_id_metadata_document_supported === true)
    return { client_id: client_metadata_url, auth_method: 'none' }
  if (known?.registered === redirect_uri) return known
  if (server.registration_endpoint !== undefined) return registered(choice)
  throw new LoginFault(
    `The authorization server ${displayAddress(server.issuer)} registers no clients by itself. Register one there by hand, with the redirect address ${redirect_uri}, and set login.client_id${
      listOf(server.token_endpoint_auth_methods_supported).includes('none') ? '' : ' and login.client_secret'
    }.`,
  )
}

const METHODS: readonly AuthMethod[] = ['client_secret_basic', 'client_secret_post']

/** How a secret is shown; where metadata do not say, RFC 8414 says Basic. */
const secretMethod = ({ token_endpoint_auth_methods_supported: named, issuer }: AuthorizationServer): AuthMethod => {
  const method = METHODS.find((one) => named === undefined || listOf(named).includes(one))
  if (method !== undefined) return method
  throw new LoginFault(
    `The authorization server ${displayAddress(issuer)} takes no client secret by ${METHODS.join(' or ')}.`,
  )
}

const registered = async ({ server, redirect_uri, send }: ClientChoice): Promise<LoginClient> => {
  const oauth = await import('oauth4webapi')
  const named = server.token_endpoint_auth_methods_supported
  const preferredMethod = named === undefined || listOf(named).includes('none') ? 'none' : secretMethod(server)
  const metadata = {
    client_name: 'Guard Gateway',
    application_type: 'native',
    redirect_uris: [redirect_uri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: preferredMethod,
  }
  try {
    const sent = await oauth.dynamicClientRegistrationRequest(server, metadata, await oauthOptions(send))
    const client = await oauth.processDynamicClientRegistrationResponse(sent)
    const method = client.token_endpoint_auth_method ?? (client.client_secret === undefined ? 'none' : preferredMethod)
    const auth_method = method === 'none' ? 'none' : METHODS.find((one) => one === method)
    if (auth_method === undefined)
      throw new LoginFault(
        `The authorization server registered a client that shows itself by "${spoken(method, 50)}", which is not done here.`,
      )
    const { client_secret } = client
    const secret = typeof client_secret !== 'string' || auth_method === 'none' ? {} : { client_secret }
    return { client_id: client.client_id, ...secret, auth_method, registered: redirect_uri }
  } catch (error) {
    throw oauthFault(error, 'The registration of a client')
  }
}

/** What is known of the place to log in at. */
interface Discovered {
  /** What tokens are asked for, by RFC 8707. */
  readonly resource: string
  /** What the server wants tokens to be good for. */
  readonly scopes: readonly string[]
  readonly server: AuthorizationServer
}

interface ResourceMetadata {
  readonly resource: string
  readonly authorization_servers: readonly string[]
  readonly scopes: readonly string[]
}

/** Where the metadata of servers are asked for, and which addresses in them may be followed. */
interface Discovery {
  readonly target: URL
  readonly login: McpLoginSettings
  readonly rules: AddressRules
  readonly send: SendRequest
}

/** Finds the authorization server of an MCP server, by RFC 9728 and RFC 8414. Throws LoginFault. */
const discover = async (at: Discovery, challenge: Challenge): Promise<Discovered> => {
  const resource = await resourceMetadata(at, challenge.resource_metadata)
  const issuer = issuerOf(at, resource)
  const preferredMethod = scopesIn(challenge.scope)
  return {
    resource: resource?.resource ?? canonical(at.target),
    scopes: preferredMethod.length > 0 ? preferredMethod : (resource?.scopes ?? []),
    server: await serverMetadata(at, issuer),
  }
}

/** The address of an MCP server as the specification writes it: without a query, and without the slash of an empty path. */
const canonical = ({ origin, pathname }: URL): string => (pathname === '/' ? origin : origin + pathname)

/** Undefined where the server has none, as servers of the revision 2025-03-26. */
const resourceMetadata = async (at: Discovery, named: string | undefined): Promise<ResourceMetadata | undefined> => {
  const known = '/.well-known/oauth-protected-resource'
  const { origin, pathname } = at.target
  const places =
    named !== undefined ? [named] : [...(pathname === '/' ? [] : [origin + known + pathname]), origin + known]
  for (const place of places) {
    const url = await at.rules.checked(place, 'The address of the resource metadata')
    const found = await metadataAt(at, url, named !== undefined)
    if (found !== undefined) return checkedResource(at, found)
  }
  return undefined
}

/** A document; undefined if there is none at this place, which `must` refuses. */
const metadataAt = async (at: Discovery, url: URL, must: boolean): Promise<Record<string, unknown> | undefined> => {
  const response = await at.send(url.href, { headers: { accept: 'application/json' } })
  if (!must && response.status >= 400 && response.status < 500) return undefined
  if (response.status !== 200) throw new LoginFault(`${displayAddress(url.href)} answered ${response.status}.`)
  const body: unknown = await response.json().catch(() => undefined)
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>
  throw new LoginFault(`${displayAddress(url.href)} gave no JSON object, or more than 64 KiB.`)
}

const checkedResource = ({ target }: Discovery, found: Record<string, unknown>): ResourceMetadata => {
  const { resource, authorization_servers: servers, scopes_supported } = found
  if (typeof resource !== 'string' || !covers(URL.parse(resource), target))
    throw new LoginFault(
      `The resource metadata are those of ${displayAddress(resource)} and not of the MCP server at ${displayAddress(canonical(target))}.`,
    )
  const authorization_servers = Array.isArray(servers)
    ? servers.filter((one): one is string => typeof one === 'string').slice(0, 20)
    : []
  return { resource, authorization_servers, scopes: scopeList(scopes_supported) }
}

/** A resource stands for its own address and what is below it. */
const covers = (resource: URL | null, target: URL): boolean => {
  if (resource === null || resource.origin !== target.origin || resource.hash !== '' || resource.search !== '')
    return false
  const folder = resource.pathname.endsWith('/') ? resource.pathname : `${resource.pathname}/`
  return `${target.pathname}/`.startsWith(folder)
}

const issuerOf = ({ target, login }: Discovery, resource: ResourceMetadata | undefined): string => {
  const named = resource?.authorization_servers ?? []
  const { issuer } = login
  if (resource !== undefined && issuer !== undefined && named.length > 0 && !named.some(isSameUrl(issuer)))
    throw new LoginFault(
      `The MCP server does not name the authorization server ${displayAddress(issuer)} of login.issuer, but ${named.map(displayAddress).join(', ')}.`,
    )
  if (issuer !== undefined) return issuer
  if (resource === undefined) return target.origin
  const [first] = named
  if (first !== undefined) return first
  throw new LoginFault('The resource metadata name no authorization server. Name it as login.issuer.')
}

const isSameUrl =
  (one: string) =>
  (other: string): boolean =>
    URL.parse(one)?.href === URL.parse(other)?.href

/** Metadata of an authorization server, from the places that the specification lists, in their order. */
const serverMetadata = async (at: Discovery, issuer: string): Promise<AuthorizationServer> => {
  const { processDiscoveryResponse } = await import('oauth4webapi')
  const { origin, pathname, href } = await at.rules.checked(issuer, 'The authorization server')
  const path = pathname.replace(/\/$/, '')
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
  ]
  for (const place of places) {
    const found = await metadataAt(at, new URL(place), false)
    if (found === undefined) continue
    if (!isSameUrl(issuer)(String(found.issuer)))
      throw new LoginFault(
        `The metadata at ${displayAddress(place)} are those of the issuer ${displayAddress(found.issuer)} and not of ${displayAddress(href)}.`,
      )
    return checkedServer(at, await processDiscoveryResponse(new URL(issuer), Response.json(found)))
  }
  throw new LoginFault(
    `The authorization server ${displayAddress(href)} has no metadata at ${places.map((place) => new URL(place).pathname).join(', ')}.`,
  )
}

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint'] as const

const checkedServer = async ({ rules }: Discovery, server: AuthorizationServer): Promise<AuthorizationServer> => {
  for (const name of ENDPOINTS) {
    if (server[name] === undefined && (name === 'registration_endpoint' || name === 'revocation_endpoint')) continue
    await rules.checked(server[name], `The ${name} of the authorization server`)
  }
  if (!listOf(server.code_challenge_methods_supported).includes('S256'))
    throw new LoginFault(
      `The authorization server ${displayAddress(server.issuer)} does not list S256 in code_challenge_methods_supported: without PKCE nobody logs in there.`,
    )
  if (server.response_types_supported !== undefined && !listOf(server.response_types_supported).includes('code'))
    throw new LoginFault(`The authorization server ${displayAddress(server.issuer)} gives no authorization codes.`)
  return server
}

/** A list in metadata; empty for anything else. */
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
