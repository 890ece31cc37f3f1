export const HOUR_MS = 3_600_000
/** The end of the last hour that four digits of a year tell. */
const LATEST = Date.UTC(10_000, 0) - 1

/** The name of the hour in UTC that an instant lies in, milliseconds since 1970: `2026-03-01T12`. Names are ordered as the hours are. */
export const hourOf = (at: number): string =>
  new Date(Math.min(LATEST, Math.max(0, at)) || 0).toISOString().slice(0, 13)

/** When an hour begins. */
export const startOf = (hour: string): number => Date.parse(`${hour}:00:00Z`)
