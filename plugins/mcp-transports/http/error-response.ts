import { headerOf } from 'guard-gateway/core'
import { memberIn, sourceOf } from 'guard-gateway/lib/json'
import type { McpReply } from 'guard-gateway/lib/mcp-transport'
import type { UpstreamResponse } from 'guard-gateway/lib/upstream-client'
import type { Frame } from '#lib/json-rpc'

const MAX_CHARS = 200

/** The status with which a client gets the error that a server has put into its answer; undefined: it gets another error. */
export const clientStatus = (status: number): number | undefined => {
  if (status === 400) return 400
  // to a client, 404 says that its session is over
  if (status === 404) return 200
  return status >= 500 && status !== 503 ? 502 : undefined
}

const NO_SESSION = '-32001'

/** The error is that there is no such session. */
export const isUnknownSession = ({ text, error }: Frame): boolean => {
  const code = memberIn(error, 'code')?.value
  return code !== undefined && sourceOf(text, code) === NO_SESSION
}

/** How a body is packed; undefined: not at all. */
export const contentEncoding = ({ headers }: UpstreamResponse): string | undefined => {
  const packed = (headerOf(headers, 'content-encoding') ?? '').trim().toLowerCase()
  return packed === '' || packed === 'identity' ? undefined : packed.replace(/[^\x21-\x7e]/g, '').slice(0, 50)
}

/** Where an answer sends its client, without what may be secret in it. */
const redirectTarget = ({ headers }: UpstreamResponse): string | undefined => {
  const target = headerOf(headers, 'location')
    ?.replace(/[?#].*$/s, '')
    .replace(/\/\/[^/@]*@/, '//')
  return target?.replace(/[^\x21-\x7e]/g, '').slice(0, MAX_CHARS) || undefined
}

/** What a client reads of an answer that is none, and what to do about it. */
export const failureOf = (response: UpstreamResponse, server_id: string, isFirst: boolean): McpReply => {
  const { status } = response
  const settings = `mcp.servers.${server_id}`
  if (status === 401 || status === 403) return refusedBy(status, settings)
  if (status === 429 || status === 503) {
    const retry = headerOf(response.headers, 'retry-after')
    const wait = retry !== undefined && /^[\x21-\x7e]{1,1024}$/.test(retry) ? { retry_after: retry } : {}
    return { ...failed(`The MCP server answered ${status}.`), status, ...wait }
  }
  const target = status >= 300 && status < 400 ? redirectTarget(response) : undefined
  if (target !== undefined)
    return failed(
      `The MCP server answered ${status} and points to ${target}. Redirects are not followed: name that address as ${settings}.target.`,
    )
  return failed(`The MCP server answered ${status}.${isFirst ? hintOf(status, settings) : ''}`)
}

const refusedBy = (status: number, settings: string): McpReply => {
  const login = status === 401 ? ` If people log in there, set ${settings}.login: {} and run guard mcp login.` : ''
  const message = `The MCP server refused the gateway (${status}). Check ${settings}.headers.${login}`
  return { form: 'failed', status: 502, code: 'UPSTREAM_REFUSED', message }
}

/** What is mostly the matter where a server does not know the first request. */
const hintOf = (status: number, settings: string): string =>
  status === 404 || status === 405
    ? ` It speaks neither Streamable HTTP there nor the older HTTP+SSE. Check the path of ${settings}.target.`
    : ''

const failed = (message: string) => ({ form: 'failed', status: 502, code: 'UPSTREAM_FAILED', message }) as const
