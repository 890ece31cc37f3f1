import type { Call, Row } from 'guard-gateway/core'
import type { ThreadPlacement } from '#lib/threads'
import type { History } from '../history/history.ts'
import type { Policy } from '../policy.ts'

/** The largest measure in a row, as JSON. */
const MEASURE_BYTES = 256

/** The measures of a row without any. */
export const noMeasures: Row['measures'] = Object.freeze({})

/** The measures that a policy's detectors take of a request; another attempt has those of its original. */
export const measuresOf = (
  { measuring }: Policy,
  call: Call,
  placed: ThreadPlacement,
  history: History,
  fault: (error: unknown, where: string) => void,
): Row['measures'] => {
  if (measuring.length === 0) return noMeasures
  if (placed.original !== undefined) return placed.original.measures
  const measures: Record<string, unknown> = {}
  for (const detector of measuring) {
    try {
      const value = detector.measure?.(call, history.memory(placed.thread, detector.id))
      if (value !== undefined) measures[detector.id] = checked(value)
    } catch (error) {
      fault(error, `detector:${detector.id}`)
    }
  }
  return measures
}

const checked = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  if (text !== undefined && Buffer.byteLength(text) <= MEASURE_BYTES) return value
  throw new TypeError(
    `a measure is JSON of at most ${MEASURE_BYTES} bytes; this one has ${text?.length ?? 'no JSON form'}`,
  )
}
