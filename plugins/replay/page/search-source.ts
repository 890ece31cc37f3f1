import type { Gateway } from 'guard-gateway/core'
import type { SearchHit, SearchSource } from 'guard-gateway/lib/page'
import { queryTokens } from 'guard-gateway/lib/text'
import { readTraceparent } from 'guard-gateway/lib/trace'
import { urlOf } from '../run-address.ts'
import type { RunRow } from '../tables.ts'
import { spanUrl, titleOf } from './format.ts'

const MAX_HITS = 10
const SPAN_ID = /^[0-9a-f]{16}$/
/** The beginning of a trace id, as lists show it. */
const BEGINNING = /^[0-9a-f]{6,31}$/

/** Finds runs by trace id, name, task and what they were exported as; spans; agents, sessions and projects of runs; and words. */
export const runSource = (gateway: Gateway): SearchSource => ({
  id: 'replay',
  order: 30,
  takes: 'ids and names of runs, their tasks, spans, agents and projects',
  find: async (text) => {
    const hits = await Promise.all([runsOf(gateway, text), spansOf(gateway, text), groupsOf(gateway, text)])
    return hits.flat()
  },
  words: (text) =>
    queryTokens(text).length === 0
      ? undefined
      : { label: 'Runs in Replay that hold these words', url: `/replay?q=${encodeURIComponent(text)}` },
})

const runsOf = async ({ storage }: Gateway, text: string): Promise<readonly SearchHit[]> => {
  const run = await storage.get('runs', traceIdIn(text))
  const search = BEGINNING.test(text) ? [`${text}*`] : queryTokens(text)
  if (search.length === 0 || storage.capabilities.search === 'none') return run === undefined ? [] : [runHit(run)]
  const { rows } = await storage.find('runs', { search, limit: 50 })
  const named = rows.filter((row) => isCalled(row, text)).slice(0, MAX_HITS)
  return [...(run === undefined ? [] : [run]), ...named].map(runHit)
}

const traceIdIn = (text: string): string => readTraceparent(text)?.trace_id ?? text

const isCalled = ({ trace_id, source_trace_id, name, task_id }: RunRow, text: string): boolean =>
  [name, task_id, source_trace_id].includes(text) || (BEGINNING.test(text) && trace_id.startsWith(text))

const runHit = (run: RunRow): SearchHit => ({
  kind: 'run',
  title: titleOf(run, run.task_id ?? undefined),
  url: urlOf(run.trace_id),
  note: `${run.trace_id} in ${run.project_id}`,
})

/** Spans that programs sent; those of requests the recorder finds. */
const spansOf = async ({ storage }: Gateway, text: string): Promise<readonly SearchHit[]> => {
  if (!SPAN_ID.test(text)) return []
  const { rows } = await storage.find('spans', { where: { id: text }, limit: MAX_HITS })
  return rows.map(({ trace_id, id, name }) => ({ kind: 'span', title: id, url: spanUrl(trace_id, id), note: name }))
}

/** What runs have in common: an agent, a session that the gateway has not led, a project. */
const groupsOf = async ({ storage }: Gateway, text: string): Promise<readonly SearchHit[]> => {
  const id = encodeURIComponent(text)
  const isIn = async (column: 'agent_id' | 'agent_name' | 'session_id' | 'project_id'): Promise<boolean> =>
    (await storage.find('runs', { where: { [column]: text }, limit: 1 })).rows.length > 0
  const [byId, byName, session, project, led] = await Promise.all([
    isIn('agent_id'),
    isIn('agent_name'),
    isIn('session_id'),
    isIn('project_id'),
    storage.get('sessions', text),
  ])
  const hit = (kind: string, url: string, note?: string): SearchHit => ({
    kind,
    title: text,
    url,
    ...(note === undefined ? {} : { note }),
  })
  return [
    ...(byId || byName ? [hit('agent', `/agents/${id}`)] : []),
    ...(session && led === undefined ? [hit('session', `/replay?session_id=${id}`, 'its runs')] : []),
    ...(project ? [hit('project', `/replay?project_id=${id}`, 'its runs')] : []),
  ]
}
