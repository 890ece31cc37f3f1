import type { Call, Gateway, Mode } from 'guard-gateway/core'
import { newId } from 'guard-gateway/lib/ids'
import { PLAYGROUND_UPSTREAM } from 'guard-gateway/lib/trace'
import type { Names } from './names.ts'

const CLIENT = 'guard-playground'

/** A call as a route makes one of a client's bytes, with the mode of the mode header. Throws UNKNOWN if the style is not served. */
export const callOf = (gateway: Gateway, style: string, body: Buffer, names: Names, mode: Mode): Call => {
  const served = gateway.apiStyles.need(style)
  const headers = {
    'content-type': 'application/json',
    'user-agent': CLIENT,
    'x-guard-project-id': names.project_id,
    'x-guard-agent-id': names.agent_id,
    'x-guard-session-id': names.external_id,
  }
  const at = gateway.clock.now()
  return {
    id: newId('guardreq_', at),
    at,
    tick: gateway.clock.tick(),
    style,
    path: served.paths[0] ?? '',
    query: '',
    headers,
    raw_headers: Object.entries(headers).flat(),
    client: CLIENT,
    identity: { agent_id: null, key_id: null },
    body,
    ...gateway.service('requests').need().reader.read(served, body, names.external_id),
    retry_mark: false,
    mode_override: mode,
    project_id: names.project_id,
    agent_id: null,
    mode,
    upstream: PLAYGROUND_UPSTREAM,
    session: null,
    notes: {},
  }
}
