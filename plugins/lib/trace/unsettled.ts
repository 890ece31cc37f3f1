import {
  type Call,
  type Cost,
  type Decision,
  noUsage,
  type Reading,
  type Settled,
  totalled,
  type Usage,
} from 'guard-gateway/core'
import type { UnseenUsage } from 'guard-gateway/lib/budget'

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

const BYTES_PER_TOKEN = 4

/** Prices of model usage. */
export interface Prices {
  /** The first model with a price counts. */
  cost(models: readonly (string | null)[], usage: Usage): Cost
}

declare module 'guard-gateway/core' {
  interface Services {
    prices: Prices
  }
}

/** A call that has just been decided, as it is on record if its process dies: `interrupted`. The provider may bill it, so it counts. */
export const unsettled = (call: Call, decision: Decision, unseen: UnseenUsage, prices: Prices | undefined): Settled => {
  const isBlocked = decision.decision === 'block'
  const usage = isBlocked || call.uncounted !== undefined ? noUsage : unseenUsage(call, decision, unseen)
  return {
    call,
    decision,
    outcome: isBlocked ? 'blocked' : 'interrupted',
    status: 0,
    reading: NO_READING,
    usage,
    usage_source: usage === noUsage ? 'none' : 'estimated',
    error: null,
    upstream: call.upstream,
    attempts: [],
    upstream_request_id: null,
    forwarded_at: null,
    first_byte_at: null,
    ended_at: call.at,
    bytes_out: 0,
    head: NO_BYTES,
    ...(prices !== undefined && { cost: prices.cost([call.envelope.model], usage) }),
  }
}

const unseenUsage = ({ conversation }: Call, { row }: Decision, unseen: UnseenUsage): Usage => {
  const input_tokens = Math.ceil(conversation.text_bytes / BYTES_PER_TOKEN)
  const output_tokens = unseen === 'reserved' ? Math.max(0, (row?.reserved ?? 0) - input_tokens) : 0
  return totalled({ input_tokens, output_tokens })
}
