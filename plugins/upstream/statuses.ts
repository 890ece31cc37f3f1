/** Statuses that say that the server fails, so that another upstream may do better. */
export const statusesOfFailure: ReadonlySet<number> = new Set([500, 502, 503, 504, 529])

/** Statuses that speak of the key: it is wrong, has no credit, or is used too often. Another key may do better. */
export const statusesOfKeys: ReadonlySet<number> = new Set([401, 402, 429])

/** Statuses that speak of who sends a request, or of how much; a client's own login answers for these. */
export const statusesOfLogins: ReadonlySet<number> = new Set([401, 402, 403, 429])
