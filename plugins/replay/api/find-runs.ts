import type { Found, Query, Reader } from 'guard-gateway/core'
import { datedCursor, parseDatedCursor } from 'guard-gateway/lib/paging'
import type { RunRow } from '../tables.ts'
import { needsRecords } from './attribute-tests.ts'
import { attributeTests, limitOf, oneOf, type RawQuery } from './filters.ts'
import { type AgentPart, mergeParts, partCursors } from './merged-runs.ts'
import { resolvedQuery } from './resolved-query.ts'
import { runsWithAttributes } from './runs-with-attributes.ts'

/** A page of a list of runs. */
export interface FoundRuns extends Omit<Found<RunRow>, 'cursors'> {}

/**
 * Runs of a list's query. `agent` matches either column of a run that names its agent. `now` is milliseconds since 1970. Throws
 * UNKNOWN_FILTER and INVALID_FILTER.
 */
export const findRuns = async (storage: Reader, query: RawQuery, now: number): Promise<FoundRuns> => {
  const tests = attributeTests(query).filter(needsRecords)
  if (tests.length === 0) return findPage(storage, query, now)
  return runsWithAttributes(storage, tests, limitOf(query), oneOf(query, 'cursor'), (limit, cursor) =>
    findPage(storage, { ...query, limit: String(limit), cursor }, now),
  )
}

/** Runs that the index leads to. */
const findPage = async (storage: Reader, query: RawQuery, now: number): Promise<FoundRuns> => {
  const agent = oneOf(query, 'agent')
  const cursor = oneOf(query, 'cursor')
  const found =
    agent === undefined
      ? await storage.find('runs', await resolvedQuery(storage, query, now))
      : await findRunsOfAgent(storage, query, agent, now)
  return { ...found, next_cursor: datedCursor(found.next_cursor, cursor, now) }
}

/** An agent has two columns and storage tests all columns of a query, so there are two queries; their pages are merged. */
const findRunsOfAgent = async (
  storage: Reader,
  { agent: _agent, cursor = '', ...rest }: RawQuery,
  agent: string,
  now: number,
): Promise<FoundRuns> => {
  const dated = parseDatedCursor(oneOf({ cursor }, 'cursor'), now)
  const [idCursor, nameCursor] = partCursors(dated.cursor)
  const part = async (column: 'agent_id' | 'agent_name', cursor: string | null | undefined): Promise<AgentPart> => {
    const given = oneOf(rest, column)
    const applies = given === undefined || given === agent
    if (cursor === null || !applies) return { from: null, page: NOTHING, applies }
    const asked: Query<RunRow> = await resolvedQuery(storage, { ...rest, [column]: agent }, dated.now)
    const page = await storage.find('runs', { ...asked, cursors: true, ...(cursor === undefined ? {} : { cursor }) })
    return { from: cursor, page, query: asked, applies }
  }
  const [byId, byName] = await Promise.all([part('agent_id', idCursor), part('agent_name', nameCursor)])
  return mergeParts(byId, byName, agent)
}

const NOTHING: Found<RunRow> = { rows: [], next_cursor: null, truncated: false, cursors: [] }
