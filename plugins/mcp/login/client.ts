import type { McpLoginSettings } from 'guard-gateway/lib/mcp-transport'
import type { AuthorizationServer } from 'oauth4webapi'
import { shownAddress } from './address-rules.ts'
import { listOf } from './discovery.ts'
import { LoginFault, spoken } from './login-fault.ts'
import type { SendRequest } from './metadata-request.ts'
import { oauthFault, oauthOptions } from './oauth-calls.ts'
import type { LoginClient } from './sealed-tokens.ts'

type AuthMethod = LoginClient['auth_method']

/** What a client is chosen by. */
export interface ClientChoice {
  readonly login: McpLoginSettings
  readonly server: AuthorizationServer
  readonly redirect_uri: string
  /** Of the login before, at the same authorization server. */
  readonly known: LoginClient | undefined
  readonly send: SendRequest
}

/** This gateway at an authorization server, in the order of the specification: registered by hand, by a client ID metadata document, by dynamic registration. Throws LoginFault. */
export const clientFor = async (choice: ClientChoice): Promise<LoginClient> => {
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
    `The authorization server ${shownAddress(server.issuer)} registers no clients by itself. Register one there by hand, with the redirect address ${redirect_uri}, and set login.client_id${
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
    `The authorization server ${shownAddress(issuer)} takes no client secret by ${METHODS.join(' or ')}.`,
  )
}

const registered = async ({ server, redirect_uri, send }: ClientChoice): Promise<LoginClient> => {
  const oauth = await import('oauth4webapi')
  const named = server.token_endpoint_auth_methods_supported
  const asked = named === undefined || listOf(named).includes('none') ? 'none' : secretMethod(server)
  const metadata = {
    client_name: 'Guard Gateway',
    application_type: 'native',
    redirect_uris: [redirect_uri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: asked,
  }
  try {
    const sent = await oauth.dynamicClientRegistrationRequest(server, metadata, await oauthOptions(send))
    const client = await oauth.processDynamicClientRegistrationResponse(sent)
    const method = client.token_endpoint_auth_method ?? (client.client_secret === undefined ? 'none' : asked)
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
