import type { Defaults } from './openings.ts'
import type { RecordedSpan } from './span.ts'
import { traceparentOf } from './trace-context.ts'

/** What tells the gateway where a request belongs; `traceparent` only where there is a span and its trace's id has that form. */
export const contextHeaders = (defaults: Defaults, span: RecordedSpan | undefined): Record<string, string> => {
  const about = span?.recording.about
  const headers: Record<string, string> = {}
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined && PRINTABLE.test(value)) headers[name] = value
  }
  if (span !== undefined) add('traceparent', traceparentOf(span.traceId, span.id))
  add('x-guard-session-id', about?.session_id ?? defaults.sessionId)
  add('x-guard-project-id', about?.project ?? defaults.project)
  add('x-guard-agent-id', about?.agent ?? defaults.agent)
  return headers
}

/** What a header can carry; fetch would refuse anything else, and with it the user's request. */
const PRINTABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
