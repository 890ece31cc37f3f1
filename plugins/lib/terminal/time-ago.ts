const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long ago an instant was, as people say it: `now`, `12 s ago`, `3 min ago`, `2 h ago`, `5 d ago`; a date where that is longer than a month, or to come. Both in milliseconds since 1970. */
export const agoText = (at: number, now: number): string => {
  const age = now - at
  if (age < -MINUTE || age >= 31 * DAY) return new Date(at).toISOString().slice(0, 10)
  if (age < 1_000) return 'now'
  if (age < MINUTE) return `${Math.floor(age / 1_000)} s ago`
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`
  return age < 2 * DAY ? `${Math.floor(age / HOUR)} h ago` : `${Math.floor(age / DAY)} d ago`
}

/** An instant in a list: for people at a terminal how long ago it was, elsewhere to the second in UTC. */
export const listedTime = (at: number, now: number, isTerminal: boolean): string =>
  isTerminal ? agoText(at, now) : `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}`
