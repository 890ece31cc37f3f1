import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { BenchCall } from './policy.ts'

/** A client of the official SDK. */
export class SdkBenchClient {
  readonly #client = new Client({ name: 'bench', version: '1' })
  readonly #transport: StreamableHTTPClientTransport

  constructor(url: string, key: string) {
    this.#transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    })
  }

  /** Opens a session and lists the tools. */
  async open(): Promise<this> {
    await this.#client.connect(this.#transport as Parameters<Client['connect']>[0])
    await this.#client.listTools()
    return this
  }

  /** Calls a tool. Rejects unless the result is that of the bench server. */
  async call({ name, arguments: given }: BenchCall): Promise<string> {
    const { content, isError } = await this.#client.callTool({ name, arguments: given })
    const text = JSON.stringify(content)
    if (isError === true || !text.includes('done done')) throw new Error(text)
    return text
  }

  async close(): Promise<void> {
    await this.#client.close()
  }
}
