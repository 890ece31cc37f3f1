import type { Frame } from 'guard-gateway/core'
import type { RequestRefusal } from '../judge/judge-request.ts'
import type { ServerFacts } from '../messages/initialize.ts'
import type { ServerTools } from '../tools/server-tools.ts'

/** What a session's messages meet beside the session itself. */
export interface RelayContext {
  readonly tools: ServerTools
  /** A page of the list of tools as the policy lets the client see it. */
  rewriteList(page: string): Promise<string>
  /** The server has said who it is. */
  initialized(facts: ServerFacts): void
  /** The server has answered something. */
  responded(): void
  /** Why a request of the server must not reach the client; undefined: it may. */
  refused(asked: Frame): Promise<RequestRefusal | undefined>
  /** The session cannot go on. */
  over(reason: string): void
}
