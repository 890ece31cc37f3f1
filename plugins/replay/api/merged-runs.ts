import type { Found, Query } from 'guard-gateway/core'
import type { RunRow } from '../tables.ts'

/** A page of the runs that one column finds. `from`: its cursor; undefined at the start, null after the end. */
export interface AgentPart {
  readonly from: string | null | undefined
  readonly page: Found<RunRow>
  /** Absent: nothing was read. */
  readonly query?: Query<RunRow>
  /** False: another filter excludes all runs of this column. */
  readonly applies: boolean
}

const SEPARATOR = '~'
const AT_START = '-'

/** The cursors of both parts in the cursor of a page: undefined at the start, null after the end. */
export const partCursors = (cursor: string | undefined): readonly (string | null | undefined)[] => {
  if (cursor === undefined) return [undefined, undefined]
  const [byId = '', byName] = cursor.split(SEPARATOR)
  // a cursor of another list is for storage to reject
  return byName === undefined ? [byId, byId] : [byId, byName].map(partCursor)
}

const partCursor = (text: string): string | null | undefined =>
  text === '' ? null : text === AT_START ? undefined : text

const cursorText = (cursor: string | null | undefined): string => (cursor === undefined ? AT_START : (cursor ?? ''))

/** Merges the runs of an agent by id and by name, in their order. A run that both find is the first one's. */
export const mergeParts = (byId: AgentPart, byName: AgentPart, agent: string) => {
  const { rows, used } = mergedRows(byId, byName, agent)
  const next = [cursorAfter(byId, used.byId), cursorAfter(byName, used.byName)]
  return {
    rows,
    next_cursor: next.every((cursor) => cursor === null) ? null : next.map(cursorText).join(SEPARATOR),
    truncated: byId.page.truncated || byName.page.truncated,
  }
}

const mergedRows = (byId: AgentPart, byName: AgentPart, agent: string) => {
  const { order = ['recorded', 'desc'] as const, limit = 50 } = byId.query ?? byName.query ?? {}
  const rows: RunRow[] = []
  const used = { byId: 0, byName: 0 }
  const isRepeated = (row: RunRow): boolean => byId.applies && row.agent_id === agent
  while (rows.length < limit && !isSpent(byId, used.byId) && !isSpent(byName, used.byName)) {
    const one = byId.page.rows[used.byId]
    const other = byName.page.rows[used.byName]
    const first = precedes(one, other, order) ? one : other
    if (first === undefined) break
    used[first === one ? 'byId' : 'byName']++
    if (first === one || !isRepeated(first)) rows.push(first)
  }
  return { rows, used }
}

/** The page is used up and is not the last: what the next one holds may come before all else. */
const isSpent = ({ page }: AgentPart, used: number): boolean => used === page.rows.length && page.next_cursor !== null

const cursorAfter = ({ from, page }: AgentPart, used: number): string | null | undefined => {
  if (used >= page.rows.length) return page.next_cursor
  return used === 0 ? from : (page.cursors?.[used - 1] ?? from)
}

type RunOrder = NonNullable<Query<RunRow>['order']>

/** Nulls are last. */
const precedes = (one: RunRow | undefined, other: RunRow | undefined, [column, direction]: RunOrder): boolean => {
  if (one === undefined || other === undefined) return other === undefined
  const name = column === 'recorded' ? 'recorded_ns' : column
  const [left, right] = [one[name] as bigint | null, other[name] as bigint | null]
  if (left === right || left === null || right === null) return right === null || left === right
  return left < right === (direction === 'asc')
}
