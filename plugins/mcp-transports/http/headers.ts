import type { PassedHeaders } from 'guard-gateway/lib/mcp-transport'

/** The header that names a session, in lower case. */
export const SESSION_ID = 'mcp-session-id'

/** What is known of a session when its server is asked. */
export interface KnownSession {
  readonly version: string | undefined
  /** The server's name for it. */
  readonly id: string | undefined
}

const COMMON = ['accept-encoding', 'identity']
const POST = ['accept', 'application/json, text/event-stream', 'content-type', 'application/json', ...COMMON]
const GET = ['accept', 'text/event-stream', ...COMMON]

/** The headers of requests to one server. They are made, not copied: nothing that lets the client in anywhere goes along. */
export class RequestHeaders {
  readonly #own: Readonly<Record<string, string>>
  readonly #post: readonly string[]
  readonly #get: readonly string[]
  readonly #end: readonly string[]

  /** `own`: configured, with names in lower case; they go before all others of their names. */
  constructor(host: string, own: Readonly<Record<string, string>>) {
    this.#own = own
    const base = (headers: readonly string[]) => {
      const list: string[] = ['host', host]
      for (let index = 0; index + 1 < headers.length; index += 2)
        this.#add(list, headers[index] ?? '', headers[index + 1])
      return [...list, ...Object.entries(own).flat()]
    }
    this.#post = base(POST)
    this.#get = base(GET)
    this.#end = base(COMMON)
  }

  post(passed: PassedHeaders, known: KnownSession | undefined): readonly string[] {
    return this.#with([...this.#post], passed, known)
  }

  get(passed: PassedHeaders, known: KnownSession, lastEventId: string | undefined): readonly string[] {
    const list = [...this.#get]
    this.#add(list, 'last-event-id', lastEventId)
    return this.#with(list, passed, known)
  }

  end(known: KnownSession): readonly string[] {
    return this.#with([...this.#end], {}, known)
  }

  #with(list: string[], passed: PassedHeaders, known: KnownSession | undefined): readonly string[] {
    for (const name in passed) this.#add(list, name, passed[name])
    this.#add(list, 'mcp-protocol-version', known?.version)
    this.#add(list, SESSION_ID, known?.id)
    return list
  }

  #add(list: string[], name: string, value: string | undefined): void {
    if (value !== undefined && this.#own[name] === undefined) list.push(name, value)
  }
}
