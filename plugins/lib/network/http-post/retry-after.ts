import { type Clock, headerOf } from 'guard-gateway/core'

/** `Retry-After`, as seconds or as a date, in milliseconds from now; null without one that can be read. */
export const retryAfterMs = (headers: readonly string[], clock: Clock): number | null => {
  const header = headerOf(headers, 'retry-after')
  if (header === undefined) return null
  const wait = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - clock.now()
  return Number.isNaN(wait) ? null : wait
}
