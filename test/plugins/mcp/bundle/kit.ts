import assert from 'node:assert/strict'
import { mcpOf } from '../../../../plugins/mcp/mcp.ts'
import { type McpAnswer, type McpClient, type McpService, startMcp } from '../../../kit/mcp.ts'
import { type McpUpstream, mcpUpstream, sendJson } from '../../../kit/mcp-upstream.ts'

/** What a scripted server has, by method. */
export interface Offer {
  readonly version?: string
  readonly capabilities?: object
  readonly instructions?: string
  /** JSON text of results, by method. */
  readonly results?: Readonly<Record<string, string>>
}

/** Makes a scripted server answer by an offer; other methods as it does by itself. */
export const offer = (upstream: McpUpstream, { version, capabilities, instructions, results = {} }: Offer): void => {
  upstream.answering = ({ message }, response) => {
    const { id, method = '', params = {} } = message ?? {}
    if (id === undefined) return false
    const reply = (result: string, headers: object = {}) =>
      sendJson(response, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`, 200, headers)
    if (method === 'initialize') {
      const answer = {
        protocolVersion: version ?? params.protocolVersion,
        capabilities: capabilities ?? { tools: { listChanged: true }, logging: {} },
        serverInfo: { name: 'offering', version: '1' },
        ...(instructions === undefined ? {} : { instructions }),
      }
      return reply(JSON.stringify(answer), { 'mcp-session-id': `of-${Math.random()}` })
    }
    const result = results[method]
    return result === undefined ? false : reply(result)
  }
}

/** A list of tools as JSON text. */
export const tools = (...names: readonly string[]): string =>
  JSON.stringify({ tools: names.map((name) => ({ name, description: name, inputSchema: { type: 'object' } })) })

/** A gateway with the bundle `work` of the scripted servers `up` and `two`. */
export interface BundleService {
  readonly service: McpService
  readonly up: McpUpstream
  readonly two: McpUpstream
  session(): Promise<McpClient>
}

export interface BundleStart {
  /** Members of the bundle `work`, as flow YAML. */
  readonly bundle?: string
  readonly up?: Offer
  readonly two?: Offer
  readonly policy?: string
  /** Further members of the section `mcp`. */
  readonly mcp?: string
}

export const startBundle = async (
  opened: AsyncDisposableStack,
  { bundle = 'servers: { up: {}, two: {} }', up = {}, two = {}, policy, mcp = '' }: BundleStart = {},
): Promise<BundleService> => {
  const second = opened.adopt(await mcpUpstream(), (one) => one.close())
  const service = opened.use(
    await startMcp({
      ...(policy === undefined ? {} : { policy }),
      mcp: `${mcp === '' ? '' : `${mcp}, `}bundles: { work: { ${bundle} } }`,
      servers: `two: { transport: http, target: "${second.url}" }`,
    }),
  )
  offer(service.upstream, up)
  offer(second, two)
  return { service, up: service.upstream, two: second, session: () => service.session({}, 'work') }
}

/** Names in the answer to a list. */
export const namesIn = ({ json, text }: McpAnswer, kind = 'tools', key = 'name'): readonly unknown[] => {
  const list = json?.result?.[kind]
  assert.ok(Array.isArray(list), text)
  return list.map((one: Readonly<Record<string, unknown>>) => one[key])
}

/** Messages that come on the stream of a client, until one fits. */
export const untilSaid = async (
  client: McpClient,
  fits: (message: { readonly method?: string; readonly params?: Readonly<Record<string, unknown>> }) => boolean,
  act: () => unknown = () => {},
): Promise<readonly { readonly method?: string; readonly params?: Readonly<Record<string, unknown>> }[]> => {
  const leave = new AbortController()
  const stream = await fetch(`${client.service.gateway.url}/mcp/${client.server}`, {
    signal: leave.signal,
    headers: { ...client.headers, authorization: `Bearer ${client.service.gateway.key}`, accept: 'text/event-stream' },
  })
  assert.equal(stream.status, 200)
  await act()
  const said: { readonly method?: string; readonly params?: Readonly<Record<string, unknown>> }[] = []
  let text = ''
  for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data !== undefined) said.push(JSON.parse(data))
    }
    if (said.some(fits)) break
  }
  leave.abort()
  return said
}

/** Lets time pass for what the proxy does by itself. */
export const sweep = async ({ service }: BundleService): Promise<void> =>
  (await mcpOf(service.gateway.gateway).bundles()).sweep()
