import type { Frame } from 'guard-gateway/core'
import type { ServerFacts } from './initialize.ts'
import type { RequestRefusal } from './requests/judge.ts'
import type { Tools } from './tools-of.ts'

/** What a session's messages meet beside the session itself. */
export interface Surroundings {
  readonly tools: Tools
  /** A page of the list of tools as the policy lets the client see it. */
  retold(page: string): Promise<string>
  /** The server has said who it is. */
  met(facts: ServerFacts): void
  /** The server has answered something. */
  heard(): void
  /** Why a request of the server must not reach the client; undefined: it may. */
  refused(asked: Frame): Promise<RequestRefusal | undefined>
  /** The session cannot go on. */
  over(reason: string): void
}
