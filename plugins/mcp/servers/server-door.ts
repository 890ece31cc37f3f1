import type { Mcp } from '../mcp.ts'
import type { Door } from '../session/client-session.ts'
import type { RunningSession } from '../session/running-session.ts'
import type { SessionInfo } from '../session/session.ts'
import type { McpServerState } from './server-state.ts'

/** The way of clients to one server. */
export class ServerDoor implements Door<RunningSession> {
  readonly #mcp: Mcp
  readonly #state: McpServerState

  constructor(mcp: Mcp, state: McpServerState) {
    this.#mcp = mcp
    this.#state = state
  }

  get id(): string {
    return this.#state.server.id
  }

  open(about: SessionInfo): Promise<RunningSession> {
    return this.#mcp.openSession(this.#state, about)
  }

  find(session_id: string, owner: string): RunningSession | undefined {
    return this.#mcp.sessions.find(session_id, owner, this.id)
  }

  end(running: RunningSession, reason: string): void {
    this.#mcp.sessions.end(running, reason)
  }
}
