import { durationText } from 'guard-gateway/lib/format'

/** Where the histogram of durations ends. */
const LONGEST_MS = 300_000

/** A duration as it is told; null without calls. */
export const latencyText = (ms: number | null): string => {
  if (ms === null) return '–'
  return ms >= LONGEST_MS ? 'over 5 min' : durationText(ms * 1e6)
}
