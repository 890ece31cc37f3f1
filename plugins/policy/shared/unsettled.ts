import { type Call, type Decision, noUsage, type Reading, type Settled } from 'guard-gateway/core'

const NO_READING: Reading = Object.freeze({
  usage: null,
  output_bytes: 0,
  model: null,
  response_id: null,
  finish_reason: null,
  calls: Object.freeze([]),
  error: null,
  complete: false,
})
const NO_BYTES = new Uint8Array(0)

/** A call that has just been decided, as it is on record if its process dies: `interrupted`. */
export const unsettled = (call: Call, decision: Decision): Settled => ({
  call,
  decision,
  outcome: decision.decision === 'block' ? 'blocked' : 'interrupted',
  status: 0,
  reading: NO_READING,
  usage: noUsage,
  usage_source: 'none',
  error: null,
  upstream: call.upstream,
  attempts: [],
  upstream_request_id: null,
  forwarded_at: null,
  first_byte_at: null,
  ended_at: call.at,
  bytes_out: 0,
  head: NO_BYTES,
})
