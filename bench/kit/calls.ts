import type { ApiStyle, Call, Client } from 'guard-gateway/core'
import { newId } from '#lib/ids'
import { RequestReader } from '#lib/request-reader'

/** The default time of bench calls, in milliseconds since 1970. */
export const NOON = Date.UTC(2026, 2, 1, 12)

/** The call of a request body, as the HTTP plugin passes it to the pipeline. `reader` caches earlier bodies. */
export const callOf = (
  style: ApiStyle,
  body: Buffer,
  session = 'bench',
  at = NOON,
  reader = new RequestReader(),
): Call => {
  const { envelope, conversation } = reader.read(style, body, session)
  return {
    id: newId('guardreq_', at),
    at,
    tick: at,
    style: style.id,
    path: style.paths[0] ?? '',
    query: '',
    headers: { 'content-type': 'application/json', 'user-agent': 'guard-bench/1.0', 'x-guard-session-id': session },
    raw_headers: ['content-type', 'application/json', 'user-agent', 'guard-bench/1.0', 'x-guard-session-id', session],
    client: 'guard-bench/1.0',
    identity: { agent_id: null, key_id: null },
    body,
    envelope,
    conversation,
    retry_mark: false,
    mode_override: null,
    project_id: 'bench',
    agent_id: null,
    mode: 'shadow',
    upstream: null,
    session: null,
    notes: {},
  }
}

/** A client that accepts every reply and discards it. */
export const silentClient: Client = {
  gone: false,
  interrupted: false,
  head() {},
  write: () => true,
  end() {},
  cut() {},
  onDrain() {},
  onGone() {},
}
