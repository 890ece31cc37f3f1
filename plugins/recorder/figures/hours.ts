export const HOUR_MS = 3_600_000
/** The end of the last hour that four digits of a year tell. */
const LATEST = Date.UTC(10_000, 0) - 1

/** The name of the hour in UTC that an instant lies in, milliseconds since 1970: `2026-03-01T12`. Names are ordered as the hours are. */
export const hourOf = (at: number): string =>
  new Date(Math.min(LATEST, Math.max(0, at)) || 0).toISOString().slice(0, 13)

/** Length of the name of an hour without a part. */
const NAME = '2026-03-01T12'.length
const PARTS = 64

/** When an hour begins, by its name or that of a part of it. */
export const startOf = (hour: string): number => Date.parse(`${hour.slice(0, NAME)}:00:00Z`)

/** What is appended to the names of hours for one of 64 parts: `.07`. All parts are ordered after the hour and before the next one. */
export const partOf = (number: number): string => `.${String(number % PARTS).padStart(2, '0')}`
