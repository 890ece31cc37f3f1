import type { Row } from 'guard-gateway/core'

/** Attempts that are one request: official clients make three unless told otherwise, patient ones ten. A mark alone is no way around a rule. */
const MOST_ATTEMPTS = 10

/**
 * The forwarded row of which a request that bears the mark of a retry is another attempt; rows are newest first. None if a request
 * like it was refused since, or if that row has had its attempts: then it is a request of its own.
 */
export const firstAttempt = (fingerprint: string, rows: readonly Row[]): Row | undefined => {
  const alike = rows.filter((row) => row.fingerprint === fingerprint)
  const attempts = alike.filter((row) => row.decision !== 'block')
  const original = attempts.find((row) => !row.retry) ?? attempts[0]
  if (original === undefined) return undefined
  const made = original.retry ? attempts.length : attempts.indexOf(original) + 1
  return made < MOST_ATTEMPTS && !isRefusedSince(original, alike) ? original : undefined
}

const isRefusedSince = (original: Row, alike: readonly Row[]): boolean => {
  const newer = alike.indexOf(original)
  return alike.some(
    ({ decision, last_at }, index) =>
      decision === 'block' && (index < newer || (last_at !== null && last_at > original.at)),
  )
}
