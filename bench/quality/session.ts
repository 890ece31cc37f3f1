import { type Call, type Decision, noUsage, type Session, type Settled } from 'guard-gateway/core'
import { newSessionRow } from '#lib/session'

/** A new session; `at` in milliseconds since 1970. */
export const sessionAt = (id: string, at: number): Session => ({
  open: 0,
  row: newSessionRow(id, {
    project_id: 'bench',
    agent_id: null,
    external_id: id,
    external_source: 'x-guard-session-id',
    client: 'guard-bench/1.0',
    at,
  }),
})

/** The end of an exchange: its tokens, the tool calls of the reply, or the upstream error. */
export interface Ending {
  readonly tokens: number
  readonly calls?: Settled['reading']['calls']
  readonly response_id?: string
  readonly fails?: { readonly status: number; readonly type: string; readonly message: string }
}

/** A settled call, as the pipeline produces it. */
export const settledOf = (call: Call, decision: Decision, ending: Ending): Settled => {
  const end = decision.decision === 'block' ? refused(decision) : answered(ending)
  const usage = { ...noUsage, input_tokens: end.tokens, total_tokens: end.tokens }
  return {
    call,
    decision,
    outcome: end.outcome,
    status: end.status,
    reading: {
      usage,
      output_bytes: 0,
      model: null,
      response_id: ending.response_id ?? null,
      finish_reason: null,
      calls: end.outcome === 'ok' ? (ending.calls ?? []) : [],
      error: end.error,
      complete: end.error === null,
    },
    usage,
    usage_source: 'reported',
    error: end.error,
    upstream: 'bench',
    attempts: [],
    upstream_request_id: null,
    forwarded_at: end.outcome === 'blocked' ? null : call.at,
    first_byte_at: end.outcome === 'blocked' ? null : call.at,
    ended_at: call.at + 500,
    bytes_out: 0,
    head: Buffer.alloc(0),
  }
}

type End = Pick<Settled, 'outcome' | 'status' | 'error'> & { readonly tokens: number }

const refused = ({ status }: Decision): End => ({ outcome: 'blocked', status: status ?? 429, error: null, tokens: 0 })

const answered = ({ fails, tokens }: Ending): End =>
  fails === undefined
    ? { outcome: 'ok', status: 200, error: null, tokens }
    : {
        outcome: 'upstream_error',
        status: fails.status,
        error: { type: fails.type, code: null, message: fails.message },
        tokens: 0,
      }
