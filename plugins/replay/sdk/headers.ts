import { isName } from './ids.ts'
import type { RecordedSpan } from './span.ts'
import { traceparentOf } from './trace-context.ts'
import type { Defaults } from './trace-factory.ts'

/** The context headers for the gateway. `traceparent` needs a current span and a hex trace id. */
export const contextHeaders = (defaults: Defaults, span: RecordedSpan | undefined): Record<string, string> => {
  const info = span?.recording.info
  const headers: Record<string, string> = {}
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined) headers[name] = value
  }
  if (span !== undefined) add('traceparent', traceparentOf(span.traceId, span.id))
  add('x-guard-session-id', info?.session_id ?? defaults.sessionId)
  add('x-guard-project-id', info?.project ?? defaults.project)
  const agent = info?.agent ?? defaults.agent
  // traces allow any agent name, but the gateway refuses such a header, and with it the request of the user
  if (agent !== undefined && isName(agent)) add('x-guard-agent-id', agent)
  return headers
}
