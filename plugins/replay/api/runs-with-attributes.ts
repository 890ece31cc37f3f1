import type { Attributes, Reader } from 'guard-gateway/core'
import { resultAttributes, ToolResults } from 'guard-gateway/lib/trace'
import { spanAndEventPages } from '../read/run-records.ts'
import type { RunRow } from '../tables.ts'
import { type AttributeTest, meets } from './attribute-tests.ts'
import type { FoundRuns } from './find-runs.ts'

/** Records of runs that one page reads at most. */
const MAX_RECORDS = 10_000
/** Runs that are read at the same time. */
const AT_ONCE = 16
/** Records of a run in memory at a time. */
const PAGE_ROWS = 256
/** A page with less room than this is full: the index would be asked for ever fewer runs. */
const MIN_ROOM = 10

/** Finds a page of runs: those after `cursor`, at most `limit`. */
export type FindPage = (limit: number, cursor: string | undefined) => Promise<FoundRuns>

/**
 * Runs of `find` whose records meet all tests; each test may be met by another record. A page reads 10,000 records at most; then it is
 * `truncated`, and its cursor continues.
 */
export const runsWithAttributes = async (
  storage: Reader,
  tests: readonly AttributeTest[],
  limit: number,
  begin: string | undefined,
  find: FindPage,
): Promise<FoundRuns> => {
  const rows: RunRow[] = []
  const budget = { records: MAX_RECORDS }
  let cursor = begin
  for (;;) {
    const page = await find(Math.max(limit - rows.length, 1), cursor)
    for (let at = 0; at < page.rows.length; at += AT_ONCE) {
      const some = page.rows.slice(at, at + AT_ONCE)
      const met = await Promise.all(some.map((row) => meetsAll(storage, row, tests, budget)))
      rows.push(...some.filter((_, index) => met[index]))
    }
    const isFull = rows.length >= limit || (rows.length > 0 && limit - rows.length < MIN_ROOM)
    const truncated = page.truncated || budget.records <= 0
    if (isFull || truncated || page.next_cursor === null)
      return { rows, next_cursor: page.next_cursor, truncated: truncated && !isFull }
    cursor = page.next_cursor
  }
}

const meetsAll = async (
  storage: Reader,
  run: RunRow,
  tests: readonly AttributeTest[],
  budget: { records: number },
): Promise<boolean> => {
  const results = new ToolResults()
  let open = tests.filter((test) => !meets(run.attributes, test))
  const read = (records: Iterable<{ readonly attributes: Attributes }>): void => {
    for (const record of records) open = open.filter((test) => !meets(record.attributes, test))
  }
  for await (const page of open.length === 0 ? [] : spanAndEventPages(storage, run, PAGE_ROWS)) {
    for (const { spans, events, call } of page) {
      budget.records -= spans.length + events.length
      read(spans)
      read(events)
      if (call !== undefined) results.add(call)
    }
    if (open.length === 0) return true
  }
  if (open.length > 0)
    read(Array.from(results.bySpan().values(), (result) => ({ attributes: resultAttributes(result) })))
  return open.length === 0
}
