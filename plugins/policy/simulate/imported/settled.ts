import { type Call, type Decision, noUsage, type Outcome, type Session, type Settled } from 'guard-gateway/core'
import type { RebuiltRequest } from 'guard-gateway/lib/export-format'
import type { ReadRequest } from 'guard-gateway/lib/request-reader'
import { newSessionRow } from 'guard-gateway/lib/session'

const nobody = { agent_id: null, key_id: null }

/** A session that begins with a request. */
export const sessionOf = ({ session_id, agent, at }: RebuiltRequest, project_id: string): Session => ({
  open: 0,
  row: newSessionRow(session_id, {
    project_id,
    agent_id: null,
    external_id: session_id,
    external_source: 'import',
    client: agent,
    at,
  }),
})

/** The call that a request would have been. */
export const callOf = (
  { style, body, at, agent }: RebuiltRequest,
  id: string,
  { envelope, conversation }: ReadRequest,
  session: Session,
): Call => ({
  id,
  at,
  tick: at,
  style,
  path: '',
  query: '',
  headers: {},
  raw_headers: [],
  client: agent,
  identity: nobody,
  body,
  envelope,
  conversation,
  retry_mark: false,
  mode_override: null,
  project_id: session.row.project_id,
  agent_id: null,
  mode: 'shadow',
  upstream: null,
  session,
  notes: {},
})

/** How it ended. */
export const settledOf = (request: RebuiltRequest, call: Call, decision: Decision, cost: Settled['cost']): Settled => {
  const { usage = noUsage, error: failure, calls, response_id, ended_at, wordless } = request
  const outcome: Outcome = failure === undefined ? 'ok' : 'upstream_error'
  const error = failure === undefined ? null : { type: failure.type, code: null, message: failure.type }
  return {
    call,
    decision,
    outcome,
    status: failure === undefined ? 200 : (failure.status ?? 500),
    reading: {
      usage,
      output_bytes: 0,
      model: request.model,
      response_id,
      finish_reason: null,
      calls,
      error,
      complete: error === null,
      ...(wordless ? { wordless: true as const } : {}),
    },
    usage,
    usage_source: request.usage === undefined ? 'none' : 'reported',
    error,
    upstream: null,
    attempts: [],
    upstream_request_id: null,
    forwarded_at: call.at,
    first_byte_at: null,
    ended_at,
    bytes_out: 0,
    head: Buffer.alloc(0),
    ...(cost === undefined ? {} : { cost }),
  }
}
