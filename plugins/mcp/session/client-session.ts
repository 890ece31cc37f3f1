import type { AuditEvent } from '../audit/event-row.ts'
import type { ClientRelay } from '../relay/client-relay.ts'
import type { OutgoingMessage } from '../relay/response.ts'
import type { SessionInfo } from './session.ts'

/** One client of the proxy as its transport sees it: at one server, or at a bundle of several. */
export interface ClientSession {
  readonly session: {
    readonly id: string
    readonly ended: boolean
    /** The largest message, in bytes. */
    readonly frame_bytes: number
    readonly log: { event(event: AuditEvent): void }
    /** Counts a stream that is open to the client, until the returned function is called. */
    use(): () => void
    /** Gives the proxy's own messages to a listener until the returned function is called. */
    listen(listener: (out: OutgoingMessage) => void): () => void
  }
  readonly clientRelay: Pick<ClientRelay, 'take' | 'listen' | 'abandon'>
}

/** What is served at one address: a server, or a bundle of servers. */
export interface Door<Client extends ClientSession = ClientSession> {
  readonly id: string
  /** Throws what the transport throws, and OVERLOADED. */
  open(about: SessionInfo): Promise<Client>
  /** The session of an id; undefined for everybody but its owner. */
  find(session_id: string, owner: string): Client | undefined
  /** Ends a session without waiting for it. */
  end(client: Client, reason: string): void
}
