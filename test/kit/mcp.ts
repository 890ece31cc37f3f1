import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Started, type StartOptions, startGateway } from './gateway.ts'
import { type McpUpstream, mcpUpstream } from './mcp-upstream.ts'

/** An answer of the MCP transport. */
export interface McpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Undefined if the text is no JSON. */
  readonly json: McpJson | undefined
}

export interface McpJson {
  readonly id?: unknown
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: Readonly<Record<string, unknown>>
  }
}

type HeaderMap = Readonly<Record<string, string>>

/** A gateway with the proxy in front of a scripted server, `up`. */
export class McpService {
  readonly gateway: Started
  readonly upstream: McpUpstream
  readonly folder: string

  constructor(gateway: Started, upstream: McpUpstream, folder: string) {
    this.gateway = gateway
    this.upstream = upstream
    this.folder = folder
  }

  fetch(method: string, body: string | undefined, headers: HeaderMap = {}, server = 'up'): Promise<Response> {
    return fetch(`${this.gateway.url}/mcp/${server}`, {
      method,
      headers: {
        authorization: `Bearer ${this.gateway.key}`,
        accept: 'application/json, text/event-stream',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    })
  }

  /** Sends a message as text, or a value as JSON. */
  async post(message: unknown, headers: HeaderMap = {}, server = 'up'): Promise<McpAnswer> {
    const body = typeof message === 'string' ? message : JSON.stringify(message)
    return answerOf(await this.fetch('POST', body, headers, server))
  }

  /** Opens a session. */
  async session(headers: HeaderMap = {}, server = 'up'): Promise<McpClient> {
    const answer = await this.post(initialize(), headers, server)
    const id = answer.headers.get('mcp-session-id')
    if (id === null) throw new Error(`${answer.status} ${answer.text}`)
    return new McpClient(this, { ...headers, 'mcp-session-id': id }, server)
  }

  /** Replaces the policy file. */
  policy(text: string): Promise<void> {
    return writeFile(join(this.folder, 'policy.yml'), text)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway.close()
    await this.upstream.close()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** One session of a service. */
export class McpClient {
  readonly service: McpService
  readonly headers: HeaderMap
  readonly server: string
  #id = 0

  constructor(service: McpService, headers: HeaderMap, server: string) {
    this.service = service
    this.headers = headers
    this.server = server
  }

  post(message: unknown, headers: HeaderMap = {}): Promise<McpAnswer> {
    return this.service.post(message, { ...this.headers, ...headers }, this.server)
  }
  fetch(method: string, body?: string, headers: HeaderMap = {}): Promise<Response> {
    return this.service.fetch(method, body, { ...this.headers, ...headers }, this.server)
  }
  request(method: string, params: object = {}): Promise<McpAnswer> {
    this.#id++
    return this.post({ jsonrpc: '2.0', id: this.#id, method, params })
  }
  call(name: string, args: object = {}): Promise<McpAnswer> {
    return this.request('tools/call', { name, arguments: args })
  }
}

export const answerOf = async (response: Response): Promise<McpAnswer> => {
  const text = await response.text()
  let json: McpJson | undefined
  try {
    json = JSON.parse(text) as McpJson
  } catch {
    json = undefined
  }
  return { status: response.status, headers: response.headers, text, json }
}

/** The result in an answer; throws if there is none. */
export const resultOf = ({ status, text, json }: McpAnswer): Readonly<Record<string, unknown>> => {
  if (json?.result === undefined) throw new Error(`${status} ${text}`)
  return json.result
}

export const initialize = (version = '2025-11-25', id: unknown = 0) => ({
  jsonrpc: '2.0',
  id,
  method: 'initialize',
  params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})

export interface McpStartOptions extends StartOptions {
  /** Text of the policy file; one that allows everything if absent. */
  readonly policy?: string
  /** Further members of the section `mcp`, as flow YAML. */
  readonly mcp?: string
  /** Further members of the server `up`, as flow YAML. */
  readonly server?: string
  /** Further servers, as flow YAML. */
  readonly servers?: string
}

export const startMcp = async (options: McpStartOptions = {}): Promise<McpService> => {
  const {
    policy = 'version: 1\ndefault: allow\nrules: []\n',
    mcp = '',
    server = '',
    servers = '',
    config: more = '',
    ...rest
  } = options
  const folder = await mkdtemp(join(tmpdir(), 'guard-mcp-'))
  await writeFile(join(folder, 'policy.yml'), policy)
  const upstream = await mcpUpstream()
  const up = `up: { transport: http, target: "${upstream.url}", ${server} }`
  const config = `mcp: { policy: policy.yml, ${mcp === '' ? '' : `${mcp}, `}servers: { ${up}, ${servers} } }\n${more}`
  const gateway = await startGateway({ ...rest, folder, config })
  return new McpService(gateway, upstream, folder)
}
