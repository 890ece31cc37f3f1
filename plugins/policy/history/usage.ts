/** Usage of forwarded requests: of a session's conversation, or of an agent or project in a calendar period. */
export interface Usage {
  /** Requests in flight included. */
  requests: number
  failed: number
  /** Requests that used tokens without a known price. */
  unpriced: number
  tokens: number
  /** Part of `tokens`. */
  cache_read_tokens: number
  /** Millionths of the billing currency. */
  cost_micro: number
  /** Tokens reserved by requests in flight. */
  reserved: number
}

export const noUsage = (): Usage => ({
  requests: 0,
  failed: 0,
  unpriced: 0,
  tokens: 0,
  cache_read_tokens: 0,
  cost_micro: 0,
  reserved: 0,
})

/** Adds to a usage; `reserved` never falls below zero. */
export const addUsage = (used: Usage, more: Partial<Usage>): void => {
  used.requests += more.requests ?? 0
  used.failed += more.failed ?? 0
  used.unpriced += more.unpriced ?? 0
  used.tokens += more.tokens ?? 0
  used.cache_read_tokens += more.cache_read_tokens ?? 0
  used.cost_micro += more.cost_micro ?? 0
  used.reserved = Math.max(0, used.reserved + (more.reserved ?? 0))
}
