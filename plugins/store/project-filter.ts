import type { AnyRow, AnyWhere, Key, Scalar, Table, Test } from 'guard-gateway/core'
import { visibleProjects } from '#lib/principal'
import type { LooseQuery, LooseSum } from './query.ts'

/** What belongs to something that has a project: its table, and the column that names it. */
const owners: Readonly<Record<string, readonly [table: string, column: string]>> = {
  spans: ['runs', 'trace_id'],
  events: ['runs', 'trace_id'],
  artifacts: ['runs', 'trace_id'],
  agent_keys: ['agents', 'agent_id'],
  mcp_approval_texts: ['mcp_approvals', 'id'],
}

/** Tables without a project that are no team's own: what the gateway itself runs on. */
const shared: ReadonlySet<string> = new Set([
  'calls_by_hour_walks',
  'generations',
  'installation',
  'instances',
  'leases',
  'mcp_limits',
  'mcp_policies',
  'mcp_tools',
  'staged_runs',
])

interface Page {
  readonly rows: readonly AnyRow[]
  readonly next_cursor: string | null
  readonly truncated: boolean
  readonly cursors?: readonly string[]
}

/** Reads of a storage by the names of tables. */
export interface LooseReads {
  get(name: string, key: Key): Promise<AnyRow | undefined>
  find(name: string, query?: LooseQuery): Promise<Page>
  sum(name: string, query: LooseSum): Promise<readonly unknown[]>
}

const NOTHING: Page = Object.freeze({ rows: [], next_cursor: null, truncated: false })

/** The same reads, where whoever asks sees some projects alone: of the others nothing is there. */
export const withinProjects = (reads: LooseReads, tableOf: (name: string) => Table): LooseReads => ({
  get: (name, key) => {
    const projects = visibleProjects()
    return projects === null ? reads.get(name, key) : visibleRow(reads, tableOf(name), key, projects)
  },
  find: async (name, query = {}) => {
    const projects = visibleProjects()
    if (projects === null) return reads.find(name, query)
    const table = tableOf(name)
    if (name === 'agents') return visibleRows(reads, table, await reads.find(name, query), projects)
    if (hasProject(table)) {
      const where = narrowed(query.where ?? {}, projects)
      return where === undefined ? NOTHING : reads.find(name, { ...query, where })
    }
    return shared.has(name)
      ? reads.find(name, query)
      : visibleRows(reads, table, await reads.find(name, query), projects)
  },
  sum: async (name, query) => {
    const projects = visibleProjects()
    if (projects === null) return reads.sum(name, query)
    if (!hasProject(tableOf(name))) return shared.has(name) ? reads.sum(name, query) : []
    const where = narrowed(query.where ?? {}, projects)
    return where === undefined ? [] : reads.sum(name, { ...query, where })
  },
})

const hasProject = ({ columns }: Table): boolean => columns.project_id !== undefined

const visibleRow = async (
  reads: LooseReads,
  table: Table,
  key: Key,
  projects: readonly string[],
): Promise<AnyRow | undefined> => {
  const row = await reads.get(table.id, key)
  return row !== undefined && (await isVisible(reads, table, row, projects)) ? row : undefined
}

const visibleRows = async (reads: LooseReads, table: Table, page: Page, projects: readonly string[]): Promise<Page> => {
  const verdicts = new Map<unknown, Promise<boolean>>()
  const [, column = ''] = owners[table.id] ?? []
  const isRowVisible = (row: AnyRow): Promise<boolean> => {
    // rows of one owner stand or fall together
    const group = column === '' ? row : row[column]
    const known = verdicts.get(group) ?? isVisible(reads, table, row, projects)
    verdicts.set(group, known)
    return known
  }
  const visible = await Promise.all(page.rows.map(isRowVisible))
  const onlyVisible = <T>(list: readonly T[]): readonly T[] => list.filter((_one, place) => visible[place])
  return { ...page, rows: onlyVisible(page.rows), ...(page.cursors && { cursors: onlyVisible(page.cursors) }) }
}

const isVisible = async (
  reads: LooseReads,
  table: Table,
  row: AnyRow,
  projects: readonly string[],
): Promise<boolean> => {
  if (hasProject(table)) {
    if (typeof row.project_id === 'string') return projects.includes(row.project_id)
    return table.id === 'agents' && (await worksIn(reads, String(row.id), projects))
  }
  const [owner, column] = owners[table.id] ?? []
  if (owner === undefined || column === undefined) return shared.has(table.id)
  const owning = await reads.get(owner, String(row[column]))
  if (owning === undefined) return false
  if (typeof owning.project_id === 'string') return projects.includes(owning.project_id)
  return owner === 'agents' && (await worksIn(reads, String(owning.id), projects))
}

/** An agent that is of no project is seen where it works. */
const worksIn = async (reads: LooseReads, agent_id: string, projects: readonly string[]): Promise<boolean> => {
  const rows = await Promise.all(projects.map((project) => reads.get('agent_projects', [agent_id, project])))
  return rows.some((row) => row !== undefined)
}

/** The tests of a query with those for the projects; undefined: no row can meet them. */
const narrowed = (where: AnyWhere, projects: readonly string[]): AnyWhere | undefined => {
  const query = where.project_id
  const visible = query === undefined ? projects : projects.filter((project) => meets(project, query))
  const [only] = visible
  if (only === undefined) return undefined
  return { ...where, project_id: visible.length === 1 ? only : { in: visible } }
}

const meets = (project: string, test: Test<Scalar>): boolean => {
  if (test === null) return false
  if (typeof test !== 'object') return test === project
  if ('in' in test) return test.in.includes(project)
  if ('not' in test) return true
  return (test.gte === undefined || project >= String(test.gte)) && (test.lt === undefined || project < String(test.lt))
}
