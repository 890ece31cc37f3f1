/** What some forwarded requests have used: those of a session's conversation, or of an agent or a project in a stretch of the calendar. */
export interface Used {
  /** Those under way included. */
  requests: number
  failed: number
  /** Requests that used tokens for which nobody knows a price. */
  unpriced: number
  tokens: number
  /** Part of `tokens`. */
  cache_read_tokens: number
  /** Millionths of the billing currency. */
  cost_micro: number
  /** Tokens held by requests under way. */
  reserved: number
}

export const nothingUsed = (): Used => ({
  requests: 0,
  failed: 0,
  unpriced: 0,
  tokens: 0,
  cache_read_tokens: 0,
  cost_micro: 0,
  reserved: 0,
})

/** Adds one to the other; what is held never falls below nothing. */
export const addUsed = (used: Used, more: Partial<Used>): void => {
  used.requests += more.requests ?? 0
  used.failed += more.failed ?? 0
  used.unpriced += more.unpriced ?? 0
  used.tokens += more.tokens ?? 0
  used.cache_read_tokens += more.cache_read_tokens ?? 0
  used.cost_micro += more.cost_micro ?? 0
  used.reserved = Math.max(0, used.reserved + (more.reserved ?? 0))
}
