import { writeJson } from '#lib/json'
import { Pace } from '#lib/time-slice'
import type { Comparison } from '../read/compare.ts'

/** Rows per chunk. */
const ROWS = 250

/** A comparison as JSON chunks: the longest has 15 MB, so it yields to other work. */
export async function* comparisonText({ spans, ...sums }: Comparison): AsyncGenerator<string> {
  const pace = new Pace()
  yield `${writeJson(sums).slice(0, -1)},"spans":[`
  for (let at = 0; at < spans.length; at += ROWS) {
    const rows = writeJson(spans.slice(at, at + ROWS)).slice(1, -1)
    yield at === 0 ? rows : `,${rows}`
    if (pace.due) await pace.rest()
  }
  yield ']}'
}
