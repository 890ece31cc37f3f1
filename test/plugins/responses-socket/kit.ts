import { type Started, type StartOptions, startGateway } from '../../kit/gateway.ts'
import { type SocketClient, socketClient } from '../../kit/socket-client.ts'
import { type SocketProvider, socketProvider } from '../../kit/socket-provider.ts'

/** A gateway in front of a provider that speaks WebSocket. */
export class SocketService {
  readonly gateway: Started
  readonly provider: SocketProvider
  readonly #clients: SocketClient[] = []

  constructor(gateway: Started, provider: SocketProvider) {
    this.gateway = gateway
    this.provider = provider
  }
  /** A client that is connected, in a session of its own name. */
  async connect(
    headers: Readonly<Record<string, string>> = {},
    options?: Parameters<typeof socketClient>[2],
  ): Promise<SocketClient> {
    const client = await socketClient(this.gateway, headers, options)
    this.#clients.push(client)
    return client
  }
  async policy(document: object): Promise<void> {
    const { status, text } = await this.gateway.request('PUT', '/api/policies/default', document)
    if (status !== 200) throw new Error(text)
  }
  /** Rows of `calls`, oldest first. */
  async calls() {
    const { rows } = await this.gateway.gateway.storage.find('calls', { limit: 200 })
    return [...rows].sort((one, other) => one.received_at - other.received_at || one.id.localeCompare(other.id))
  }
  async session(id: string) {
    const { text, json } = await this.gateway.request('GET', `/api/sessions/${encodeURIComponent(id)}`)
    const { session } = json as { session?: { id: string; requests: number; blocked: number; total_tokens: number } }
    if (session === undefined) throw new Error(text)
    return session
  }
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.#clients) socket.terminate()
    await this.gateway.close()
    await this.provider.close()
  }
}

/** `upstream`: further members of the entry, as flow YAML. */
export const startSocketService = async ({
  upstream = '',
  provider: options,
  config = '',
  ...rest
}: StartOptions & {
  readonly upstream?: string
  readonly provider?: Parameters<typeof socketProvider>[0]
} = {}): Promise<SocketService> => {
  const provider = await socketProvider(options)
  const key = upstream.includes('api_keys') ? '' : 'api_key: sk-up, '
  const entry = `{ name: provider, base_url: "${provider.url}", ${key}styles: [responses, chat_completions], ${upstream} }`
  const gateway = await startGateway({ config: `${config}\nupstreams: [${entry}]`, ...rest })
  return new SocketService(gateway, provider)
}

/** Waits until something is so, at most a minute. */
export const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  const end = performance.now() + 60_000
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`still not so: ${isSo}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
