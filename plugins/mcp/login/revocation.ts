import type { Gateway } from 'guard-gateway/core'
import type { McpServer } from 'guard-gateway/lib/mcp-transport'
import { addressRules } from './address-rules.ts'
import { requestsOf } from './metadata-request.ts'
import { oauthClient, oauthOptions } from './oauth-calls.ts'
import type { LoginTokens } from './sealed-tokens.ts'

/** Asks an authorization server to end what it has issued, by RFC 7009; false: it cannot, or does not answer. */
export const revoke = async (
  gateway: Gateway,
  server: McpServer,
  { server: at, client: known, refresh_token, access_token }: LoginTokens,
  signal: AbortSignal,
): Promise<boolean> => {
  if (at.revocation_endpoint === undefined) return false
  try {
    await addressRules(server).checked(at.revocation_endpoint, 'The revocation_endpoint of the authorization server')
    const oauth = await import('oauth4webapi')
    const { client, shown } = await oauthClient(gateway, known)
    const options = await oauthOptions(requestsOf(gateway, server, signal))
    const token = refresh_token ?? access_token
    await oauth.processRevocationResponse(await oauth.revocationRequest({ ...at }, client, shown, token, options))
    return true
  } catch {
    // here the login is over, whatever the other side makes of it
    return false
  }
}
