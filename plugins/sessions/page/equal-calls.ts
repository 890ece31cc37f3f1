import type { Reader } from 'guard-gateway/core'
import type { CallRecord } from '#lib/trace'

/** Rows of a page, where a row may stand for many requests. */
const PAGE_ROWS = 50
const READ_ROWS = 100
/** Requests that one page reads at most. */
const MAX_READ = 1_000
/** Fewer equal requests are shown one by one. */
export const LEAST_FOLDED = 3

/** Requests in a row with the same body and the same decision, newest first. */
export type CallGroup = readonly [CallRecord, ...CallRecord[]]

/** A page of the requests of a session, newest first, equal ones together. The cursor begins with the next group. */
export const foldedCalls = async (
  storage: Reader,
  session_id: string,
  cursor: string | undefined,
): Promise<{ readonly groups: readonly CallGroup[]; readonly next_cursor: string | null }> => {
  const groups: [CallRecord, ...CallRecord[]][] = []
  let read = 0
  for await (const { call, from } of callsFrom(storage, session_id, cursor)) {
    const group = groups.at(-1)
    const isSame = group !== undefined && isEqual(group[0], call)
    if (read >= MAX_READ || (!isSame && rowsOf(groups) >= PAGE_ROWS)) return { groups, next_cursor: from ?? null }
    if (isSame) group.push(call)
    else groups.push([call])
    read++
  }
  return { groups, next_cursor: null }
}

/** Requests of a session, newest first, each with the cursor that begins with it; undefined for the very first. */
async function* callsFrom(storage: Reader, session_id: string, cursor: string | undefined) {
  let next: string | null | undefined = cursor
  while (next !== null) {
    let from: string | undefined = next
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(storage, session_id, next)
    for (const [at, call] of page.rows.entries()) {
      yield { call, from }
      from = page.cursors?.[at]
    }
    next = page.next_cursor
  }
}

const readPage = (storage: Reader, session_id: string, cursor: string | undefined) =>
  storage.find('calls', {
    where: { session_id },
    limit: READ_ROWS,
    cursors: true,
    ...(cursor === undefined ? {} : { cursor }),
  })

const rowsOf = (groups: readonly CallGroup[]): number =>
  groups.reduce((sum, { length }) => sum + (length < LEAST_FOLDED ? length : 1), 0)

const isEqual = (one: CallRecord, other: CallRecord): boolean =>
  one.fingerprint === other.fingerprint &&
  one.decision === other.decision &&
  one.reason === other.reason &&
  one.rule_id === other.rule_id &&
  one.model_requested === other.model_requested &&
  one.outcome === other.outcome
