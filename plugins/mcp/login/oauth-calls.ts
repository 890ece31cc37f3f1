import type { Gateway } from 'guard-gateway/core'
import type { AuthorizationServer, Client } from 'oauth4webapi'
import { LoginFault, spoken } from './login-fault.ts'
import type { SendRequest } from './metadata-request.ts'
import type { LoginClient } from './sealed-tokens.ts'

/** Options of the OAuth library: requests go our own way, to addresses that were checked before. */
export const oauthOptions = async (send: SendRequest) => {
  const { allowInsecureRequests, customFetch } = await import('oauth4webapi')
  return {
    [allowInsecureRequests]: true,
    [customFetch]: (address: string, { method, headers, body }: CustomRequest) =>
      send(address, { method, headers, body }),
  }
}

interface CustomRequest {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: unknown
}

/** A client as the library knows it, by the clock of the gateway, and how it shows itself. */
export const oauthClient = async (gateway: Gateway, { client_id, client_secret = '', auth_method }: LoginClient) => {
  const oauth = await import('oauth4webapi')
  const client: Client = {
    client_id,
    [oauth.clockSkew]: Math.round((gateway.clock.now() - Date.now()) / 1_000),
    [oauth.clockTolerance]: 60,
  }
  const authentication =
    auth_method === 'none'
      ? oauth.None()
      : auth_method === 'client_secret_basic'
        ? oauth.ClientSecretBasic(client_secret)
        : oauth.ClientSecretPost(client_secret)
  return { client, authentication }
}

/** Tokens as an authorization server gives them. */
export interface TokenResponse {
  readonly access_token: string
  readonly refresh_token?: string
  /** Seconds; undefined: it does not say. */
  readonly expires_in?: number
  readonly scope?: string
}

/** Trades a code for tokens. Throws LoginFault. */
export const tokensForCode = async (
  gateway: Gateway,
  send: SendRequest,
  grant: {
    readonly server: AuthorizationServer
    readonly client: LoginClient
    readonly parameters: URLSearchParams
    readonly state: string
    readonly redirect_uri: string
    readonly verifier: string
    readonly resource: string
  },
): Promise<TokenResponse> => {
  const oauth = await import('oauth4webapi')
  const { server, parameters, state, redirect_uri, verifier, resource } = grant
  try {
    const { client, authentication } = await oauthClient(gateway, grant.client)
    const valid = oauth.validateAuthResponse(server, client, parameters, state)
    const options = { ...(await oauthOptions(send)), additionalParameters: { resource } }
    const sent = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      valid,
      redirect_uri,
      verifier,
      options,
    )
    return bearer(await oauth.processAuthorizationCodeResponse(server, client, sent))
  } catch (error) {
    throw oauthFault(error, 'The authorization server')
  }
}

/** Trades a refresh token for other tokens. Throws LoginFault, final where the authorization server says that it is over. */
export const renewedTokens = async (
  gateway: Gateway,
  send: SendRequest,
  { server, client: known, resource, refresh_token }: RefreshGrant,
): Promise<TokenResponse> => {
  const oauth = await import('oauth4webapi')
  try {
    const { client, authentication } = await oauthClient(gateway, known)
    const options = { ...(await oauthOptions(send)), additionalParameters: { resource } }
    const sent = await oauth.refreshTokenGrantRequest(server, client, authentication, refresh_token, options)
    return bearer(await oauth.processRefreshTokenResponse(server, client, sent))
  } catch (error) {
    throw oauthFault(error, 'The authorization server')
  }
}

export interface RefreshGrant {
  readonly server: AuthorizationServer
  readonly client: LoginClient
  readonly resource: string
  readonly refresh_token: string
}

const TOKEN = /^[\x21-\x7e]{1,16384}$/

const bearer = (tokens: TokenResponse & { readonly token_type: string }): TokenResponse => {
  if (tokens.token_type !== 'bearer')
    throw new LoginFault(`The authorization server gave a token of the type "${spoken(tokens.token_type, 50)}".`)
  const { access_token, refresh_token } = tokens
  if (TOKEN.test(access_token) && (refresh_token === undefined || TOKEN.test(refresh_token))) return tokens
  throw new LoginFault('The authorization server gave a token that no header can hold.')
}

/** The login is over at the authorization server, and not only interrupted. */
const FINAL: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client'])

/** An error of the OAuth library in words; what a server said of it is shown as its words. */
export const oauthFault = (thrown: unknown, who: string): LoginFault => {
  if (thrown instanceof LoginFault) return thrown
  const { error, error_description, status, message } = Object(thrown) as Record<string, unknown>
  if (typeof error === 'string') {
    const words = spoken(error_description)
    const detail = words === '' ? '' : ` (in its words: "${words}")`
    return new LoginFault(`${who} answered with the error ${spoken(error, 60)}${detail}.`, FINAL.has(error))
  }
  if (typeof status === 'number') return new LoginFault(`${who} refused the client (${status}).`, status === 401)
  const why = thrown instanceof Error && 'code' in thrown ? spoken(message) : 'its answer cannot be read'
  return new LoginFault(`${who} gave no usable answer: ${why}.`)
}
