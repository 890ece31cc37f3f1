import type { McpLoginSettings } from 'guard-gateway/lib/mcp-transport'
import type { AuthorizationServer } from 'oauth4webapi'
import { type AddressRules, shownAddress } from './address-rules.ts'
import { type Challenge, scopeList, scopesIn } from './challenge.ts'
import { LoginFault } from './login-fault.ts'
import type { SendRequest } from './metadata-request.ts'

/** What is known of the place to log in at. */
export interface Discovered {
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
export interface Discovery {
  readonly target: URL
  readonly login: McpLoginSettings
  readonly rules: AddressRules
  readonly send: SendRequest
}

/** Finds the authorization server of an MCP server, by RFC 9728 and RFC 8414. Throws LoginFault. */
export const discover = async (at: Discovery, challenge: Challenge): Promise<Discovered> => {
  const resource = await resourceMetadata(at, challenge.resource_metadata)
  const issuer = issuerOf(at, resource)
  const asked = scopesIn(challenge.scope)
  return {
    resource: resource?.resource ?? canonical(at.target),
    scopes: asked.length > 0 ? asked : (resource?.scopes ?? []),
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
  if (response.status !== 200) throw new LoginFault(`${shownAddress(url.href)} answered ${response.status}.`)
  const body: unknown = await response.json().catch(() => undefined)
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>
  throw new LoginFault(`${shownAddress(url.href)} gave no JSON object, or more than 64 KiB.`)
}

const checkedResource = ({ target }: Discovery, found: Record<string, unknown>): ResourceMetadata => {
  const { resource, authorization_servers: servers, scopes_supported } = found
  if (typeof resource !== 'string' || !covers(URL.parse(resource), target))
    throw new LoginFault(
      `The resource metadata are those of ${shownAddress(resource)} and not of the MCP server at ${shownAddress(canonical(target))}.`,
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
      `The MCP server does not name the authorization server ${shownAddress(issuer)} of login.issuer, but ${named.map(shownAddress).join(', ')}.`,
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
        `The metadata at ${shownAddress(place)} are those of the issuer ${shownAddress(found.issuer)} and not of ${shownAddress(href)}.`,
      )
    return checkedServer(at, await processDiscoveryResponse(new URL(issuer), Response.json(found)))
  }
  throw new LoginFault(
    `The authorization server ${shownAddress(href)} has no metadata at ${places.map((place) => new URL(place).pathname).join(', ')}.`,
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
      `The authorization server ${shownAddress(server.issuer)} does not list S256 in code_challenge_methods_supported: without PKCE nobody logs in there.`,
    )
  if (server.response_types_supported !== undefined && !listOf(server.response_types_supported).includes('code'))
    throw new LoginFault(`The authorization server ${shownAddress(server.issuer)} gives no authorization codes.`)
  return server
}

/** A list in metadata; empty for anything else. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
