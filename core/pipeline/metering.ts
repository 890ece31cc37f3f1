import type { Call, Outcome } from '../call.ts'
import type { Reading } from '../settled.ts'
import { noUsage, totalled, type Usage } from '../usage.ts'

/** Tokens of a finished call and how they are known. */
export interface Metered {
  readonly usage: Usage
  readonly usage_source: 'reported' | 'partial' | 'estimated' | 'none'
}

const BYTES_PER_TOKEN = 4

/**
 * The usage that a reply reports; an estimate from bytes if a reply with output reports none.
 * Without a reply, or with an error alone, usage is zero. That of a warm-up is noted on it and counts nowhere.
 */
export const metered = (reading: Reading, outcome: Outcome, { conversation, uncounted, notes }: Call): Metered => {
  const isWarmup = uncounted === 'warmup'
  if (isWarmup && reading.usage !== null) notes.warmup_usage = reading.usage
  if (outcome === 'blocked' || outcome === 'unreachable' || isWarmup) return { usage: noUsage, usage_source: 'none' }
  if (reading.usage !== null) return { usage: reading.usage, usage_source: reading.complete ? 'reported' : 'partial' }
  if (outcome === 'upstream_error' || (outcome !== 'ok' && reading.output_bytes === 0))
    return { usage: noUsage, usage_source: 'none' }
  return {
    usage: totalled({
      input_tokens: Math.ceil(conversation.text_bytes / BYTES_PER_TOKEN),
      output_tokens: Math.ceil(reading.output_bytes / BYTES_PER_TOKEN),
    }),
    usage_source: 'estimated',
  }
}
