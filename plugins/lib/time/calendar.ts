import type { Per } from 'guard-gateway/core'

/** A section of the calendar, in milliseconds since 1970; `end` is the first instant after it. */
export interface Window {
  readonly start: number
  readonly end: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Longer than any such stretch is, also where clocks are set back in it. */
const LONGEST: Readonly<Record<Exclude<Per, 'minute'>, number>> = {
  hour: 2 * HOUR,
  day: 2 * DAY,
  week: 9 * DAY,
  month: 33 * DAY,
}

/** Minutes, hours, days, weeks from Monday and months of a time zone. */
export class Calendar {
  readonly zone: string
  readonly #format: Intl.DateTimeFormat
  readonly #known = new Map<Per, Window>()

  /** Throws RangeError if there is no such zone. */
  constructor(zone: string = systemZone()) {
    this.zone = zone
    this.#format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  }

  /** The stretch that an instant lies in. */
  windowAt(per: Per, at: number): Window {
    const known = this.#known.get(per)
    if (known !== undefined && at >= known.start && at < known.end) return known
    const window = this.#windowOf(per, at)
    this.#known.set(per, window)
    return window
  }

  /** An instant as clocks of the zone show it, to the minute, with its date: `2026-03-01 15:00`. */
  text(at: number): string {
    return new Date(at + this.#offset(at)).toISOString().slice(0, 16).replace('T', ' ')
  }

  #windowOf(per: Per, at: number): Window {
    // the offset of a zone is a whole number of minutes, and changes between two of them
    const minute = Math.floor(at / MINUTE)
    if (per === 'minute') return { start: minute * MINUTE, end: (minute + 1) * MINUTE }
    const label = this.#label(per, at)
    const isWithin = (minutes: number): boolean => this.#label(per, minutes * MINUTE) === label
    const reach = LONGEST[per] / MINUTE
    const start = firstWhere(minute - reach, minute, isWithin)
    const end = firstWhere(minute, minute + reach, (minutes) => !isWithin(minutes))
    return { start: start * MINUTE, end: end * MINUTE }
  }

  /** What all instants of a stretch have in common, and none beside it. */
  #label(per: Exclude<Per, 'minute'>, at: number): string {
    const offset = this.#offset(at)
    const local = at + offset
    // an hour that occurs twice counts as two
    if (per === 'hour') return `${Math.floor(local / HOUR)} ${offset}`
    if (per === 'month') return new Date(local).toISOString().slice(0, -17)
    const day = Math.floor(local / DAY)
    // 1970 started on a Thursday
    return String(per === 'day' ? day : Math.floor((day + 3) / 7))
  }

  /** By how much clocks of the zone are ahead of UTC. */
  #offset(at: number): number {
    const parts: Record<string, number> = {}
    for (const { type, value } of this.#format.formatToParts(at)) parts[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000
  }
}

/** The first of these integers that passes; all after it do. */
const firstWhere = (least: number, most: number, passes: (value: number) => boolean): number => {
  let [from, to] = [least, most]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if (passes(middle)) to = middle
    else from = middle + 1
  }
  return from
}

/** Whether there is such a time zone: `Europe/Berlin`, or an offset such as `+05:30`. */
export const isTimeZone = (zone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}

/** The time zone that the system is set to; UTC where it says none that is known. */
export const systemZone = (): string => {
  const zone: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return zone !== undefined && isTimeZone(zone) ? zone : 'UTC'
}
