import type { Frame, FrameFault } from '#lib/json-rpc'
import type { Connections, UpstreamAddress } from '#lib/upstream-client'

/** A server behind the proxy, as it is configured. Times in milliseconds. */
export interface McpServer {
  readonly id: string
  readonly name: string
  /** Id of the transport that leads to it. */
  readonly transport: string
  /** Address, for a server that is reached over HTTP. */
  readonly target?: string
  /** Address of the proxy on the way to it, with its login; `none` or absent: there is none. */
  readonly proxy?: string
  /** Authorities that are trusted beside those of Node: certificates as PEM. */
  readonly ca?: readonly string[]
  /** Sent with each request, for example a key. */
  readonly headers: Readonly<Record<string, string>>
  /** People log in at it; absent: nobody does. */
  readonly login?: McpLoginSettings
  readonly timeout_ms: number
  /** Program, for a server that is a child process. */
  readonly command?: string
  readonly args: readonly string[]
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>
  /** Absolute; the folder of this process if absent. */
  readonly cwd?: string
}

/** How people log in at a server, by OAuth. */
export interface McpLoginSettings {
  /** One login for all who use the server, or one for each agent. */
  readonly per: 'server' | 'agent'
  /** The client that was registered by hand. */
  readonly client_id?: string
  readonly client_secret?: string
  /** Address of a client ID metadata document, which is the id of the client where the authorization server reads such documents. */
  readonly client_metadata_url?: string
  /** The authorization server, where metadata do not name it, or name several. */
  readonly issuer?: string
  /** Asked for in place of what the server names. */
  readonly scopes?: readonly string[]
  /** Where the browser is sent back to, on this machine; without a port the system chooses one. */
  readonly redirect_uri?: string
  /** Plain http to the host of the server is allowed. */
  readonly insecure?: boolean
}

/** Why a login gives no credential. */
export interface NoCredential {
  readonly code: 'MCP_LOGIN_NEEDED' | 'UPSTREAM_UNREACHABLE'
  /** What to do about it, in words for a client. */
  readonly message: string
}

/** A server's answer of 401 or 403. */
export interface CredentialRefusal {
  readonly status: number
  /** Its headers: name, value, name, value … */
  readonly headers: readonly string[]
}

/** The login of a session at its server. */
export interface McpLogin {
  /** The value of `authorization`; at once where it is known. */
  credential(): string | NoCredential | Promise<string | NoCredential>
  /** What follows when the server refuses that value: another one to try once, or why there is none; undefined: the login has nothing to do with it. */
  refused(credential: string, refusal: CredentialRefusal): Promise<string | NoCredential | undefined>
}

/** What a link may know of the session it serves. */
export interface McpSession {
  /** `mcp_…`, the proxy's own. */
  readonly id: string
  /** The revision both sides agreed on; absent before the answer to `initialize`. */
  readonly protocol_version: string | undefined
  /** The client has one stream for everything, so that an answer may come out of `listen` as well as out of `post`. */
  readonly merged: boolean
  /** The projects that its client may read records of; null: all. */
  readonly projects: readonly string[] | null
  /** The largest message, in bytes. */
  readonly frame_bytes: number
  /** Its login at the server; absent: there is none to show. */
  readonly login?: McpLogin
  /** Connections to an address, the same for all sessions; they end with the gateway. Throws MISSING_PLUGIN if nothing here speaks HTTP. */
  connect(address: UpstreamAddress): Connections
  /** A way to a server by another transport, which is named by its id. Rejects with UNKNOWN where there is no such transport. */
  open(transport: string, server: McpServer): Promise<McpLink>
  /** Says one line to whoever runs the proxy. */
  notice(text: string): void
  /** Takes what a child process writes on its standard error. */
  stderr(bytes: Buffer): void
  /** Counts a message that is dropped, and why: `noise`, `overflow`. */
  dropped(reason: string): void
}

/** One message of a server on its way to the client, or an event of a stream that carries none. */
export interface StreamEvent {
  /** Absent for comments, priming events and the like, and for what is no frame. */
  readonly frame?: Frame
  /** Why what came is no frame that may pass. */
  readonly fault?: FrameFault
  /** The event as it came, its closing line included, where it came in an event stream. */
  readonly raw?: Buffer
  /** The event has an id, so the stream can be taken up again behind it. */
  readonly resumable?: boolean
}

/** What a server makes of a message. `failed`: it made nothing of it, and the client is told so. */
export type McpReply =
  | { readonly form: 'none'; readonly status: number }
  | { readonly form: 'json'; readonly status: number; readonly event: StreamEvent }
  /** `events` is a list where all of them are there. */
  | { readonly form: 'sse'; readonly events: AsyncIterable<StreamEvent> | readonly StreamEvent[]; stop(): void }
  | {
      readonly form: 'failed'
      readonly status: number
      readonly code:
        | 'MCP_LOGIN_NEEDED'
        | 'MCP_SESSION_NOT_FOUND'
        | 'UPSTREAM_REFUSED'
        | 'UPSTREAM_UNREACHABLE'
        | 'UPSTREAM_TIMEOUT'
        | 'UPSTREAM_FAILED'
      readonly message: string
      readonly retry_after?: string
    }

/** Headers of the client's request that may go along: `user-agent`, `accept-language`, `traceparent`, `tracestate`. */
export type PassedHeaders = Readonly<Record<string, string>>

/** Why a server can be reached no more, in words for a client. */
export interface Lost {
  readonly reason: string
  /** Of a child process; that of its end by a signal is 128 and the signal's number. */
  readonly exit_code?: number
}

/** The way to one server for one session. */
export interface McpLink {
  /** Hands over one message of the client. */
  post(frame: Frame, headers?: PassedHeaders): Promise<McpReply>
  /** What the server says unasked; with an id, what a broken stream still owes. Status 405: it offers no such stream. */
  listen(lastEventId?: string, headers?: PassedHeaders): Promise<McpReply>
  /** Resolves when the server can be reached no more. */
  readonly lost: Promise<Lost>
  /** Lets go of what costs while nobody uses the session, such as a child; the next message brings it back. False: it is in use. */
  rest?(): boolean
  /** Whether a process of this session's own runs now; absent where the server is none of ours to start. */
  readonly runs?: boolean
  /** Ends the server's session, and the child if there is one. */
  end(): Promise<void>
}

/** A kind of way to servers. `id` is what `transport` says in the configuration. */
export interface McpTransport {
  readonly id: string
  open(server: McpServer, session: McpSession): Promise<McpLink>
}

/**
 * An MCP server of the gateway's own, at `/mcp/{id}` without an entry in the configuration; an entry of its name goes before it. Calls are
 * judged and recorded as those of any server; where no policy file is named, `policy` is in force for it.
 */
export interface OwnMcpServer {
  readonly id: string
  readonly name: string
  /** Id of the transport that leads to it. */
  readonly transport: string
  readonly policy: object
}
