import { once } from 'node:events'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { type Clock, Gateway, type Plugin, type Settled } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { gemini } from 'guard-gateway/plugins/api-styles/gemini'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { ollama } from 'guard-gateway/plugins/api-styles/ollama'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { http, type ServerOptions, type Serving, serve } from 'guard-gateway/plugins/http'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { type UpstreamOptions, type UpstreamsOptions, upstream } from 'guard-gateway/plugins/upstream'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { foundation } from 'guard-gateway/presets/foundation'
import type { UpstreamClient } from '#lib/upstream-client'
import { FakeProvider } from '../../kit/provider.ts'

export const KEY = 'test-gateway-key-0123456789'
export const PROVIDER_KEY = 'provider-key-abcdefghijkl'

export interface Started {
  readonly gateway: Gateway
  readonly serving: Serving
  readonly provider: FakeProvider
  readonly port: number
  /** Every call that was settled, in order. */
  readonly settled: Settled[]
  /** Log lines. */
  readonly log: string[]
  /** Failures that nobody waited for. */
  readonly faults: string[]
  [Symbol.asyncDispose](): Promise<void>
}

export interface StartOptions {
  readonly server?: Partial<ServerOptions>
  readonly passthrough?: readonly string[]
  readonly mcp?: { readonly allowed_hosts?: readonly string[]; readonly allowed_origins?: readonly string[] }
  /** Beside what one upstream of all styles needs. */
  readonly upstream?: Partial<UpstreamOptions>
  /** In place of the one upstream. */
  readonly upstreams?: (url: string) => readonly UpstreamOptions[]
  /** In place of both: a list that may be replaced while the gateway runs. */
  readonly live?: UpstreamsOptions
  /** Absent: the one that is the default. */
  readonly client?: UpstreamClient & Plugin
  readonly plugins?: readonly Plugin[]
  /** The framework is loaded at the first request that needs it. */
  readonly isLazy?: boolean
  readonly clock?: Clock
}

const all = ['chat_completions', 'messages', 'responses', 'gemini', 'ollama']

/** A gateway before a provider, both on loopback. */
export const start = async (options: StartOptions = {}): Promise<Started> => {
  const provider = await new FakeProvider().listen()
  const one: UpstreamOptions = {
    name: 'main',
    base_url: provider.url,
    api_key: PROVIDER_KEY,
    styles: all,
    ...options.upstream,
  }
  const { server = {}, passthrough = [], mcp = {}, plugins = [] } = options
  const settled: Settled[] = []
  const faults: string[] = []
  const watch: Plugin = {
    name: 'watch',
    apply: (gateway) => {
      gateway.hooks.settle.tap('watch', (each) => void settled.push(each))
      gateway.hooks.fault.tap('watch', (error, where) => void faults.push(`${where}: ${String(error)}`))
    },
  }
  const gateway = new Gateway(options.clock === undefined ? {} : { clock: options.clock }).use(
    ...foundation(),
    memory(),
    chatCompletions,
    messages,
    responses,
    gemini,
    ollama,
    http({ gateway_key: KEY, server, passthrough, mcp }),
    options.client ?? undici,
    upstream(options.live ?? { upstreams: options.upstreams?.(provider.url) ?? [one] }),
    watch,
    ...plugins,
  )
  const log: string[] = []
  const serving = await serve(gateway, {
    port: 0,
    isLazy: options.isLazy ?? false,
    log: { write: (text) => log.push(...text.trimEnd().split('\n')) },
  }).catch(async (error: unknown) => {
    await provider.close()
    throw error
  })
  const dispose = async () => {
    await serving.close()
    await provider.close()
  }
  return { gateway, serving, provider, port: serving.port, settled, log, faults, [Symbol.asyncDispose]: dispose }
}

export const chatBody = { model: 'm-1', messages: [{ role: 'user', content: 'Hello' }] }
export const messagesBody = { model: 'm-1', max_tokens: 64, messages: [{ role: 'user', content: 'Hello' }] }
const responsesBody = { model: 'm-1', input: 'Hello' }

/** The guarded paths, each with a body it takes. */
export const styles = [
  ['/v1/chat/completions', chatBody],
  ['/v1/messages', messagesBody],
  ['/v1/responses', responsesBody],
] as const

/** What a client got. */
export interface Got {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly raw: readonly string[]
  readonly body: Buffer
  /** The reply came to its proper end. */
  readonly complete: boolean
}

export interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON. */
  readonly body?: object | string | Uint8Array
  /** Absent: the gateway key as bearer token. */
  readonly key?: string | null
}

/** Sends a request; resolves when the connection has said all it will say. */
export const ask = async (port: number, asked: Asked = {}): Promise<Got> => read(await answered(begin(port, asked)))

/** The request without waiting for anything. */
export const begin = (
  port: number,
  { method = 'POST', path = '/v1/chat/completions', headers = {}, body, key = KEY }: Asked,
): ClientRequest => {
  const bytes =
    body === undefined
      ? undefined
      : typeof body === 'string' || body instanceof Uint8Array
        ? Buffer.from(body)
        : Buffer.from(JSON.stringify(body))
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    method,
    path,
    agent: false,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
      ...headers,
    },
  })
  request.end(bytes)
  return request
}

/** The head of the answer; rejects if there is none. */
export const answered = async (request: ClientRequest): Promise<IncomingMessage> => {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response
}

/** The rest of an answer, whole or broken off. */
export const read = async (response: IncomingMessage): Promise<Got> => {
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  response.on('error', () => {})
  await new Promise<void>((resolve) => response.once('close', resolve))
  const { statusCode = 0, headers, rawHeaders: raw, complete } = response
  return { status: statusCode, headers, raw, body: Buffer.concat(chunks), complete }
}

/** The body of an answer as JSON. */
export const jsonOf = (
  got: Pick<Got, 'body'>,
): { readonly error: Readonly<Record<string, unknown>> } & Readonly<Record<string, unknown>> =>
  JSON.parse(got.body.toString())
