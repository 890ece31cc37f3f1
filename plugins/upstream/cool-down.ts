import { headerOf } from 'guard-gateway/core'

const SECOND = 1_000
const DAY = 86_400_000
/** Where a reply says nothing. A key that is refused or has no credit stays so for longer than one that is used too often. */
const DEFAULT_MS = 30 * SECOND
const REFUSED_MS = 300 * SECOND
const refusals: ReadonlySet<number> = new Set([401, 402, 403])

/** The families of rate-limit headers: names of what is left, and of when it is whole again. */
const limits: readonly (readonly [remaining: string, reset: string])[] = [
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].flatMap((what) => [
    [`x-ratelimit-remaining-${what}`, `x-ratelimit-reset-${what}`] as const,
    [`anthropic-ratelimit-${what}-remaining`, `anthropic-ratelimit-${what}-reset`] as const,
  ]),
  ['anthropic-ratelimit-unified-remaining', 'anthropic-ratelimit-unified-reset'],
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
  ['ratelimit-remaining', 'ratelimit-reset'],
]

/**
 * How long nothing is to be sent after a refusal, in milliseconds from `now` (since 1970), at most a day: what `retry-after-ms`,
 * `retry-after` or else the longest of the exhausted rate limits says, in seconds, as a duration or as a date.
 */
export const coolDown = (status: number, headers: readonly string[], now: number): number => {
  const milliseconds = headerOf(headers, 'retry-after-ms')?.trim() ?? ''
  const retryAfter = /^\d+(\.\d+)?$/.test(milliseconds)
    ? Number(milliseconds)
    : waitOf(headerOf(headers, 'retry-after'), now)
  const wait = retryAfter ?? exhausted(headers, now) ?? (refusals.has(status) ? REFUSED_MS : DEFAULT_MS)
  return Math.min(Math.max(0, Math.ceil(wait)), DAY)
}

/** The longest wait that a limit announces of which nothing is known to be left. */
const exhausted = (headers: readonly string[], now: number): number | undefined => {
  const waits = limits.flatMap(([remaining, reset]) => {
    const isLeft = Number(headerOf(headers, remaining) ?? 0) > 0
    const wait = isLeft ? undefined : waitOf(headerOf(headers, reset), now)
    return wait === undefined ? [] : [wait]
  })
  const field = /(?:^|;)\s*t=(\d+)/.exec(headerOf(headers, 'ratelimit') ?? '')?.[1]
  if (field !== undefined) waits.push(Number(field) * SECOND)
  return waits.length === 0 ? undefined : Math.max(...waits)
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: SECOND, m: 60 * SECOND, h: 3_600 * SECOND, d: DAY }
/** Seconds since 1970 are larger than any wait in seconds, and milliseconds larger than those. */
const EPOCH_SECONDS = 1e9
const EPOCH_MS = 1e11

/** The wait that a value means: `30`, `1.5`, `6m0s`, `120ms`, a time since 1970, an HTTP date or one of RFC 3339. */
const waitOf = (value: string | undefined, now: number): number | undefined => {
  const text = value?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return numericWait(Number(text), now)
  if (/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text)) {
    const parts = text.matchAll(/([\d.]+)(ms|[smhd])/g)
    return [...parts].reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0)
  }
  const date = /^[A-Z]|^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : date - now
}

const numericWait = (value: number, now: number): number => {
  if (value >= EPOCH_MS) return value - now
  return value >= EPOCH_SECONDS ? value * SECOND - now : value * SECOND
}
