import type { McpLogin, NoCredential } from 'guard-gateway/lib/mcp-transport'
import type { UpstreamResponse } from 'guard-gateway/lib/upstream-client'
import { NoResponse } from './request.ts'

/** Sends a request with this value of `authorization`; undefined: without. */
type SendWith = (authorization: string | undefined) => Promise<UpstreamResponse>

/**
 * Sends a request with what the login shows. A server that refuses it (401) has done nothing with the request: it is sent once more where
 * there is another credential. Rejects with NoResponse where somebody must log in.
 */
export const withLogin = (login: McpLogin | undefined, send: SendWith): Promise<UpstreamResponse> =>
  login === undefined ? send(undefined) : sendWithLogin(login, send)

const sendWithLogin = async (login: McpLogin, send: SendWith): Promise<UpstreamResponse> => {
  const first = needCredential(await login.credential())
  const response = await send(first)
  if (!isRefusal(response)) return response
  const next = await login.refused(first, response)
  if (next === undefined) return response
  discard(response)
  const second = needCredential(next)
  const again = await send(second)
  if (!isRefusal(again)) return again
  const last = await login.refused(second, again)
  if (last === undefined) return again
  discard(again)
  if (typeof last !== 'string') needCredential(last)
  throw new NoResponse('MCP_LOGIN_NEEDED', 'The MCP server refuses every token of its login.')
}

const isRefusal = ({ status }: UpstreamResponse): boolean => status === 401 || status === 403

const needCredential = (credential: string | NoCredential): string => {
  if (typeof credential === 'string') return credential
  throw new NoResponse(credential.code, credential.message)
}

const discard = ({ body }: UpstreamResponse): void => {
  if (!(body instanceof Uint8Array)) body.destroy()
}
