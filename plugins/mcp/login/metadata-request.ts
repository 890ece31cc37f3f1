import type { Gateway } from 'guard-gateway/core'
import type { McpServer } from '#lib/mcp-transport'
import { connectionFault, post, upstreamAddress } from '#lib/network'
import { type UpstreamRequest, upstreamClientKind } from '#lib/upstream-client'
import { LoginFault } from './login-fault.ts'

const TIMEOUT_MS = 15_000
const TIMES = { connect_ms: 10_000, idle_ms: TIMEOUT_MS }

/** What an OAuth library sends. */
interface RequestOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Sends one request as `fetch` would. Redirects are answers, the body is at most 64 KiB, and all of it takes at most 15 s. Throws LoginFault. */
export type SendRequest = (address: string, options?: RequestOptions) => Promise<Response>

/** Requests by the way that leads to the server: its proxy, its authorities. */
export const requestsOf = (gateway: Gateway, server: McpServer, signal: AbortSignal): SendRequest => {
  const [client] = gateway.registry(upstreamClientKind)
  return async (address, options = {}) => {
    if (client === undefined) throw new LoginFault('No plugin here speaks HTTP.')
    const url = new URL(address)
    const connections = client.connect(upstreamAddress(url, TIMES, server))
    const answer = await post(connections, requestOf(url, options), TIMEOUT_MS, signal)
      .catch((error: NodeJS.ErrnoException) => {
        throw new LoginFault(`${url.host} could not be reached: ${connectionFault(error).what}.`)
      })
      .finally(() => connections.close())
    const { status } = answer
    if (status < 300 || status >= 400) return responseOf(answer)
    throw new LoginFault(`${url.host} answered ${status} and points elsewhere. Redirects are not followed.`)
  }
}

const requestOf = (url: URL, { method = 'GET', headers = {}, body }: RequestOptions): UpstreamRequest => {
  const sent = body === undefined || body === null ? undefined : Buffer.from(String(body))
  const list = ['host', url.host, ...Object.entries(headers).flat(), 'accept-encoding', 'identity']
  if (sent !== undefined) list.push('content-length', String(sent.length))
  return { method, path: url.pathname + url.search, headers: list, body: sent }
}

/** An answer as the OAuth library reads one. */
export const responseOf = (answer: {
  readonly status: number
  readonly headers: readonly string[]
  readonly body?: Buffer
}): Response => {
  const headers = new Headers()
  for (let at = 0; at + 1 < answer.headers.length; at += 2) {
    const [name = '', value = ''] = [answer.headers[at], answer.headers[at + 1]]
    // other headers say nothing about a login
    if (/^(?:content-type|www-authenticate)$/i.test(name)) headers.append(name, value.slice(0, 8_192))
  }
  const isEmpty = answer.status === 204 || answer.status === 205 || answer.status === 304
  return new Response(isEmpty ? null : (answer.body ?? null), {
    status: Math.min(Math.max(200, answer.status), 599),
    headers,
  })
}
