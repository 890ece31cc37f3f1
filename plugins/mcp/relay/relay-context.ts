import type { Frame } from 'guard-gateway/lib/json-rpc'
import type { RequestRefusal } from '../judge/judge-request.ts'
import type { ServerFacts } from '../messages/initialize.ts'
import type { CompiledResultCheck } from '../policy/compiled.ts'
import type { CheckedResult } from '../results/check-result.ts'
import type { ServerTools } from '../tools/server-tools.ts'

/** The context of a server's relay besides the session. */
export interface RelayContext {
  readonly tools: ServerTools
  /** Rewrites a page of the list of tools to what the policy lets the client see. */
  rewriteList(page: string): Promise<string>
  /** Lets checks look at the result of a call. */
  checkResult(frame: Frame, tool: string, checks: readonly CompiledResultCheck[]): Promise<CheckedResult>
  /** The server has answered `initialize`. */
  initialized(facts: ServerFacts): void
  /** The server has answered a request. */
  responded(): void
  /** Why a request of the server must not reach the client; undefined: it may. */
  judgeRequest(asked: Frame): Promise<RequestRefusal | undefined>
  /** The session cannot continue. */
  over(reason: string): void
}
