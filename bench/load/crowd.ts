import type { Rounds, Sample } from './rounds.ts'
import type { Shape } from './shapes.ts'
import type { Target } from './targets.ts'

const WATCH_MS = 250

/** The memory of many concurrent streams. */
export interface CrowdResult {
  readonly sample: Sample
  /** Resident memory before the first stream, and its maximum while streams were open. */
  readonly rss_before_bytes: number
  readonly rss_peak_bytes: number
  readonly per_stream_bytes: number
}

/** Opens all streams of the shape at once and samples the memory of the target until all have ended. */
export const crowdRun = async (rounds: Rounds, shape: Shape, target: Target): Promise<CrowdResult> => {
  const rss = async () => (await target.child.request('usage', null)).rss_bytes
  const before = await rss()
  let peak = before
  const watch = setInterval(() => {
    rss().then(
      (now) => {
        peak = Math.max(peak, now)
      },
      () => clearInterval(watch),
    )
  }, WATCH_MS)
  try {
    const sample = await rounds.sample(shape, target)
    peak = Math.max(peak, sample.rss_bytes)
    return {
      sample,
      rss_before_bytes: before,
      rss_peak_bytes: peak,
      per_stream_bytes: Math.max(0, peak - before) / shape.requests,
    }
  } finally {
    clearInterval(watch)
  }
}
