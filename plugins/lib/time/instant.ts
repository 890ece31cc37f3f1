import { GuardError } from 'guard-gateway/core'
import { instantOf } from './age.ts'

/** The instant that a parameter gives, milliseconds since 1970. Throws INVALID_REQUEST. */
export const instant = (name: 'since' | 'until', given: string, now: number): number => {
  const at = instantOf(given, now)
  if (at !== undefined) return at
  throw new GuardError(
    'INVALID_REQUEST',
    `"${name}" is not a time: ${given}. Send a day like 2026-01-31, a time like 2026-01-31T12:00:00Z, an age like 24h, today or yesterday.`,
    { path: `/${name}` },
  )
}
