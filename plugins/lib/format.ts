const NS_PER_MS = 1_000_000

/** A length of time as people read it: `340 ns`, `1.2 ms`, `412 ms`, `12.4 s`, `3 min 05 s`, `2 h 04 min`. */
export const durationText = (ns: bigint | number): string => {
  const value = Number(ns)
  if (value < 0) return `−${durationText(-value)}`
  if (value < 1_000) return `${Math.round(value)} ns`
  if (value < NS_PER_MS) return `${short(value / 1_000)} µs`
  if (value < 1_000 * NS_PER_MS) return `${short(value / NS_PER_MS)} ms`
  if (value < 59.95e9) return `${(value / 1e9).toFixed(1)} s`
  const seconds = Math.round(value / 1e9)
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`
}

const short = (value: number): string => (value < 9.95 ? value.toFixed(1) : String(Math.min(999, Math.round(value))))
const twoDigits = (value: number): string => String(value).padStart(2, '0')

/** A number of things: `812`, `8.1k`, `1.2M`. */
export const countText = (count: bigint | number): string => {
  const value = Number(count)
  if (Math.abs(value) < 1_000) return String(value)
  if (Math.abs(value) < 999_500) return `${tenths(value / 1_000)}k`
  return Math.abs(value) < 999_500_000 ? `${tenths(value / 1e6)}M` : `${tenths(value / 1e9)}G`
}

const tenths = (value: number): string => (Math.abs(value) < 99.95 ? value.toFixed(1) : value.toFixed(0))

/** A number with all its digits in groups of three: `84,730`. */
export const groupedText = (count: bigint | number): string => count.toLocaleString('en')

/** A number of bytes: `900 B`, `2.1 kB`, `1.1 GB`. */
export const bytesText = (bytes: bigint | number): string => {
  const value = Number(bytes)
  if (value < 1_000) return `${value} B`
  if (value < 999_950) return `${tenths(value / 1e3)} kB`
  return value < 999_950_000 ? `${tenths(value / 1e6)} MB` : `${tenths(value / 1e9)} GB`
}

/** Millionths of a currency's unit with at most four significant digits: `0.021`, `12.34`, `0`. */
export const costText = (micro: bigint | number): string => {
  const value = Number(micro) / 1e6
  if (value === 0) return '0'
  return Math.abs(value) >= 1_000 ? value.toFixed(0) : String(Number(value.toPrecision(4)))
}

/** A time of day in UTC, with its date where that is not the date of `now`; both in milliseconds since 1970. */
export const timeText = (at: number, now: number): string => {
  const [date = '', time = ''] = new Date(at).toISOString().split('T')
  const clock = time.slice(0, 8)
  return date === new Date(now).toISOString().slice(0, 10) ? clock : `${date} ${clock}`
}
