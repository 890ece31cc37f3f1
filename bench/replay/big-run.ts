import type { Fragment } from 'guard-gateway/core'
import { fragmentOf } from './fragments.ts'

const SPANS_A_RUN = 12

/** The spans of many runs, and as many events, merged into one run. */
export const bigRun = (trace_id: string, spans: number): Fragment => {
  const [first, ...rest] = Array.from({ length: Math.ceil(spans / SPANS_A_RUN) }, (_, n) => fragmentOf(n + 1))
  if (first === undefined) throw new Error('a run has spans')
  const all = [first, ...rest]
  return {
    ...first,
    run: { ...first.run, trace_id },
    spans: all.flatMap((one) => one.spans).slice(0, spans),
    events: all.flatMap((one) => one.events).slice(0, spans),
  }
}
