import type { Bench } from 'tinybench'
import { timesAsync } from '../kit/times.ts'
import { listPage, type Routes } from './routes.ts'

/** Number of the later page: far from the start, within the page limit. */
const PAGES = 40

/** A word of nearly every run, a word of one run in 200, and a word of no run. */
export const words = { common: 'read_file', rare: 'rare_7', absent: 'nowhere_to_be_found' } as const

/** Response times of a full store: list pages, filters, searches, the tree of a run. */
export const register = async (bench: Bench, routes: Routes): Promise<void> => {
  for (const [name, path] of Object.entries(await readPaths(routes)))
    bench.add(
      name,
      timesAsync(5, () => routes.request(path)),
      { async: true },
    )
}

/** The paths of the reads, by name. */
export const readPaths = async (routes: Routes): Promise<Readonly<Record<string, string>>> => {
  const cursor = await laterPage(routes)
  const [newest] = (await listPage(routes, 'limit=1')).runs
  if (newest === undefined) throw new Error('the store is empty')
  return {
    'list: first page': '/api/v1/runs',
    [`list: page ${PAGES + 1}`]: `/api/v1/runs?cursor=${cursor}`,
    'list: a page by duration': '/api/v1/runs?sort=duration',
    'list: project': '/api/v1/runs?project_id=project_3',
    'list: project and status': '/api/v1/runs?project_id=project_3&status=error',
    'list: project and failure tag': '/api/v1/runs?project_id=project_3&failure_tag=timeout',
    'list: project and pinned': '/api/v1/runs?project_id=project_3&pinned=true',
    'list: session': `/api/v1/runs?session_id=${newest.session_id}`,
    'list: agent': '/api/v1/runs?agent_id=agent_4',
    'list: agent and status': '/api/v1/runs?agent_id=agent_4&status=timeout',
    'list: agent and failure tag': '/api/v1/runs?agent_id=agent_4&failure_tag=timeout',
    'list: agent and project': '/api/v1/runs?agent_id=agent_4&project_id=project_3',
    'list: status and failure tag': '/api/v1/runs?status=error&failure_tag=timeout',
    'list: status and pinned': '/api/v1/runs?status=error&pinned=true',
    'list: failure tag and pinned': '/api/v1/runs?failure_tag=timeout&pinned=true',
    'search: a common word': `/api/v1/runs?q=${words.common}`,
    'search: a common word in a project': `/api/v1/runs?q=${words.common}&project_id=project_3`,
    'search: a common word and a rare status': `/api/v1/runs?q=${words.common}&status=timeout`,
    'search: a rare word': `/api/v1/runs?q=${words.rare}`,
    'search: a word that is nowhere': `/api/v1/runs?q=${words.absent}`,
    'attribute: a value of nearly every run': `/api/v1/runs?attribute=${encodeURIComponent('gen_ai.operation.name=chat')}`,
    'attribute: a value of one run in 200': `/api/v1/runs?attribute=${encodeURIComponent(`topic=${words.rare}`)}`,
    'attribute: a value of no run': `/api/v1/runs?attribute=${encodeURIComponent('http.status=418')}`,
    'attribute: a range that most runs meet': `/api/v1/runs?attribute=${encodeURIComponent('gen_ai.usage.input_tokens>100')}`,
    'attribute: a range that few runs meet': `/api/v1/runs?attribute=${encodeURIComponent('gen_ai.usage.input_tokens>19900')}`,
    'stats: runs of a day by agent': `/api/v1/stats?group=agent&step=hour&since=2026-03-02&until=2026-03-03`,
    'stats: tools of a day by name': `/api/v1/stats?of=tools&group=name&step=hour&since=2026-03-02&until=2026-03-03`,
    'read: a run of 25 rows': `/api/v1/runs/${newest.trace_id}`,
    'read: its tree': `/api/v1/runs/${newest.trace_id}/rows`,
  }
}

const laterPage = async (routes: Routes): Promise<string> => {
  let query = ''
  for (let page = 0; page < PAGES; page++) {
    const { next_cursor } = await listPage(routes, query)
    if (next_cursor === null) break
    query = `cursor=${encodeURIComponent(next_cursor)}`
  }
  return query.slice('cursor='.length)
}
