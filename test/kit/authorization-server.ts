import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type IssuedToken, Provider } from 'oidc-provider'

/** A request that the authorization server got. */
export interface AuthorizationRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
}

/** An authorization server on loopback: `oidc-provider`, with its own pages. */
export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string
  /** Requests so far, by the path without its query. */
  count(path: string): number
  readonly requests: readonly AuthorizationRequest[]
  /** Answers in its place; true: it has. */
  answering: (request: IncomingMessage, response: ServerResponse) => boolean
  /** Changes the metadata that it gives. */
  metadata: (known: Record<string, unknown>) => Record<string, unknown>
  token(value: string): Promise<IssuedToken | undefined>
  /** The token is good no more. */
  revokeAccess(value: string): Promise<void>
  /** Neither the token nor what it could be renewed with is good. */
  revokeGrant(value: string): Promise<void>
}

export interface AuthorizationOptions {
  /** Below the origin, as `/tenant`. */
  readonly path?: string
  /** Clients that were registered by hand. */
  readonly clients?: readonly object[]
  /** Members of the configuration. */
  readonly configuration?: object
  readonly registration?: boolean
  readonly features?: object
}

const WELL_KNOWN = /\/\.well-known\/(?:openid-configuration|oauth-authorization-server)/

export const authorizationServer = async (options: AuthorizationOptions = {}): Promise<AuthorizationServer> => {
  const { path = '', clients = [], registration = true } = options
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer = origin + path
  const provider = new Provider(issuer, {
    clients,
    ttl: { Interaction: 3600, Session: 3600, Grant: 86_400, RefreshToken: 86_400 },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    scopes: ['openid', 'offline_access', 'tools:read', 'tools:write'],
    features: {
      registration: { enabled: registration },
      revocation: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: 'tools:read tools:write',
          audience: resource,
          accessTokenTTL: 3600,
          accessTokenFormat: 'opaque',
        }),
        useGrantedResource: () => true,
      },
      ...options.features,
    },
    ...options.configuration,
  })
  const serve = provider.callback()
  const requests: AuthorizationRequest[] = []
  const running: AuthorizationServer = {
    issuer,
    requests,
    count: (wanted) => requests.filter((request) => request.path === path + wanted).length,
    answering: () => false,
    metadata: (known) => known,
    token: (value) => provider.AccessToken.find(value),
    async revokeAccess(value) {
      await (await provider.AccessToken.find(value))?.destroy()
    },
    async revokeGrant(value) {
      const token = await provider.AccessToken.find(value)
      await provider.RefreshToken.revokeByGrantId(token?.grantId ?? '')
      await token?.destroy()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', origin)
    requests.push({ method: request.method ?? '', path: pathname, query: searchParams })
    if (running.answering(request, response)) return
    if (path !== '' && pathname.startsWith(path)) request.url = (request.url ?? '').slice(path.length) || '/'
    if (WELL_KNOWN.test(pathname)) changeBody(response, (text) => JSON.stringify(running.metadata(JSON.parse(text))))
    // the library learns where it is mounted as from Express
    Object.assign(request, { originalUrl: path + request.url, baseUrl: path })
    serve(request, response)
  })
  return running
}

/** Changes a body that is sent whole. */
const changeBody = (response: ServerResponse, change: (text: string) => string): void => {
  const end = response.end.bind(response)
  response.end = ((body?: unknown) => {
    if (response.statusCode !== 200 || body === undefined) return end(body as string)
    const changed = change(String(body))
    response.setHeader('content-length', Buffer.byteLength(changed))
    return end(changed)
  }) as typeof response.end
}
