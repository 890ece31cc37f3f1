import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Gateway } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { gemini } from 'guard-gateway/plugins/api-styles/gemini'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { asRequestHandler, type EmbeddedGateway, http, type ServerOptions } from 'guard-gateway/plugins/http'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { upstream } from 'guard-gateway/plugins/upstream'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { foundation } from 'guard-gateway/presets/foundation'
import type { FakeProvider } from '../../../kit/provider.ts'
import { KEY } from '../kit.ts'

/** A small gateway for a host application: styles with plain paths, and one whose paths have parameters. */
export const gatewayFor = (provider: FakeProvider, server: Partial<ServerOptions> = {}): Gateway =>
  new Gateway().use(
    ...foundation(),
    memory(),
    chatCompletions,
    messages,
    gemini,
    http({ gateway_key: KEY, server }),
    undici,
    upstream({ upstreams: [{ name: 'main', base_url: provider.url, styles: ['messages'] }] }),
  )

export interface Hosted extends AsyncDisposable {
  readonly guard: EmbeddedGateway
  readonly server: Server
  readonly port: number
}

/** A server of a host application on loopback, with the gateway in it. Absent: it serves nothing else. */
export const hosted = async (
  gateway: Gateway,
  listenerOf: (guard: EmbeddedGateway) => RequestListener = (guard) => guard.handle,
): Promise<Hosted> => {
  const guard = await asRequestHandler(gateway)
  const listener = listenerOf(guard)
  const server = createServer((request, response) => listener(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    guard,
    server,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      await guard.close()
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Lets a connection look as if it came in at an address that other machines reach. */
export const fromBeyond = (request: IncomingMessage): void => {
  Object.defineProperty(request.socket, 'localAddress', { value: '::ffff:192.0.2.7', configurable: true })
}

/** A proxy on this machine whose word about people is taken. */
export const localProxy = {
  header: 'x-forwarded-user',
  from: ['127.0.0.1'],
  groups_header: '',
  scopes: {},
  groups: {},
  projects: {},
}
