import { Calendar } from './calendar.ts'

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const AGE = /^(\d{1,6})([smhd])$/
const RFC_3339 = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/i

/** Milliseconds since 1970 of a UTC day or an RFC 3339 time; undefined for other text and for days that no calendar has, which JavaScript takes for later ones. */
export const timeOf = (text: string): number | undefined => {
  const [, day = ''] = RFC_3339.exec(text) ?? []
  const midnight = Date.parse(day)
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

/** As `timeOf`, also for an age such as 24h, counted back from `now`, and for `today` and `yesterday`, which begin at midnight in `zone`: that of the system if absent. */
export const instantOf = (text: string, now: number, zone?: string): number | undefined => {
  if (text === 'today') return dayBegin(now, zone)
  if (text === 'yesterday') return dayBegin(dayBegin(now, zone) - 1, zone)
  const [, count, unit = ''] = AGE.exec(text) ?? []
  return count === undefined ? timeOf(text) : now - Number(count) * (UNITS[unit] ?? 0)
}

const dayBegin = (at: number, zone?: string): number => new Calendar(zone).windowAt('day', at).start
