import type { Frame } from 'guard-gateway/lib/json-rpc'
import type { Lost, McpLink, McpReply, McpServer, McpSession, PassedHeaders } from 'guard-gateway/lib/mcp-transport'
import { HttpLink } from './link.ts'

/** The way to a server over HTTP: Streamable HTTP, or HTTP+SSE for `transport: sse` and for a server that knows nothing newer. */
export const openHttpLink = async (server: McpServer, session: McpSession): Promise<McpLink> =>
  server.transport === 'sse' ? olderLink(server, session) : new FallbackLink(server, session)

const olderLink = async (server: McpServer, session: McpSession) => {
  const { OlderLink } = await import('./older/link.ts')
  return new OlderLink(server, session)
}

/** Tries Streamable HTTP first, as the specification says: a server that refuses `initialize` with 400, 404 or 405 may speak HTTP+SSE. */
class FallbackLink implements McpLink {
  readonly lost: Promise<Lost>
  readonly #server: McpServer
  readonly #session: McpSession
  readonly #http: HttpLink
  readonly #lose: (lost: Lost) => void
  #link: McpLink

  constructor(server: McpServer, session: McpSession) {
    this.#server = server
    this.#session = session
    const { promise, resolve } = Promise.withResolvers<Lost>()
    this.lost = promise
    this.#lose = resolve
    this.#http = new HttpLink(server, session)
    this.#link = this.#http
    this.#follow(this.#http)
  }

  post(frame: Frame, passed?: PassedHeaders): Promise<McpReply> {
    const reply = this.#link.post(frame, passed)
    return frame.method === 'initialize' && this.#link === this.#http ? this.#begun(reply, frame, passed) : reply
  }

  listen(lastEventId?: string, passed?: PassedHeaders): Promise<McpReply> {
    return this.#link.listen(lastEventId, passed)
  }

  end(): Promise<void> {
    return this.#link.end()
  }

  async #begun(first: Promise<McpReply>, frame: Frame, passed?: PassedHeaders): Promise<McpReply> {
    const reply = await first
    if (!this.#http.mayBeOlder) return reply
    const older = await olderLink(this.#server, this.#session)
    const second = await older.post(frame, passed)
    if (!older.isSpoken) {
      await older.end()
      return second.form === 'failed' && second.code === 'MCP_LOGIN_NEEDED' ? second : reply
    }
    this.#link = older
    this.#follow(older)
    return second
  }

  #follow(link: McpLink): void {
    void link.lost.then((lost) => {
      if (this.#link === link) this.#lose(lost)
    })
  }
}
