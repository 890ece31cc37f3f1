import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { BenchCall } from './policy.ts'

/** A minimal MCP client with one connection. */
export class BenchClient {
  readonly #url: URL
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #headers: Record<string, string>
  #id = 0

  constructor(url: string, key: string) {
    this.#url = new URL(url)
    this.#headers = {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    }
  }

  /** Opens a session and lists the tools, which makes the gateway validate calls by their schemas. */
  async open(): Promise<this> {
    const clientInfo = { name: 'bench', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    const { headers } = await this.#post('initialize', params)
    this.#headers['mcp-session-id'] = String(headers['mcp-session-id'])
    this.#headers['mcp-protocol-version'] = '2025-11-25'
    await this.#post('tools/list', {})
    return this
  }

  /** Calls a tool. Resolves to the response body. Rejects unless it is the result of the bench server. */
  async call(params: BenchCall): Promise<string> {
    const { body } = await this.#post('tools/call', params)
    if (!body.includes('done done') || body.includes('isError')) throw new Error(body)
    return body
  }

  close(): void {
    this.#agent.destroy()
  }

  async #post(method: string, params: object): Promise<{ headers: IncomingMessage['headers']; body: string }> {
    const json = JSON.stringify({ jsonrpc: '2.0', id: ++this.#id, method, params })
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { ...this.#headers, 'content-length': Buffer.byteLength(json) }
      request(this.#url, { method: 'POST', agent: this.#agent, headers }, resolve).on('error', reject).end(json)
    })
    const body = await text(response)
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${body}`)
    return { headers: response.headers, body }
  }
}
