import type { Gateway, Reader } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { exportFormatKind, importFormatKind } from '#lib/export-format'
import { bytesText } from '#lib/format'
import { choice, faultList, type Html, html, raw } from '#lib/html'
import {
  type AgentSource,
  type Ask,
  agentSourceKind,
  formKind,
  type Page,
  pageKind,
  type Refusal,
  type SearchHit,
  type SearchSource,
  type SessionSource,
  searchSourceKind,
  sessionSourceKind,
} from '#lib/page'
import { queryTokens } from '#lib/text'
import { readTraceparent } from '#lib/trace'
import { runSummary } from '#lib/trace-file'
import type { RawQuery } from '../api/filters.ts'
import { findRuns } from '../api/find-runs.ts'
import type { Imports } from '../import/imports.ts'
import type { Retention } from '../maintenance/retention.ts'
import { readTrace } from '../read/run.ts'
import { agentOf } from '../read/run-agent.ts'
import type { RunCache } from '../read/run-cache.ts'
import { addUse, mergeUse, type Use, type UseTable } from '../read/use.ts'
import { urlOf } from '../run-address.ts'
import type { RunRow } from '../tables.ts'
import type { RunWriter } from '../write/run-writer.ts'
import { comparePage } from './compare/compare-page.ts'
import { firstSteps } from './first-steps.ts'
import { spanUrl, titleOf } from './format.ts'
import { pinForm, runForms } from './forms.ts'
import { listPage } from './list.ts'
import { listTable } from './list-table.ts'
import { runPage } from './run.ts'
import { useTable } from './use/use-table.ts'

export interface PageParts {
  readonly gateway: Gateway
  readonly imports: Imports
  readonly runWriter: RunWriter
  readonly cache: RunCache
  readonly retention: Retention
}

/** Adds the pages of Replay and their forms. */
export const addPages = ({ gateway, imports, runWriter, cache, retention }: PageParts): void => {
  gateway.registry(pageKind).add(listPage(gateway, retention))
  gateway.registry(pageKind).add(importPage(gateway, imports.max_bytes))
  gateway.registry(pageKind).add(comparePage(gateway, cache))
  gateway.registry(pageKind).add(runPage(gateway, cache))
  gateway.registry(agentSourceKind).add(agentRuns(gateway))
  const uses = new RecentUses(() => gateway.storage)
  gateway.registry(agentSourceKind).add(agentUse(gateway, uses))
  gateway.registry(sessionSourceKind).add(sessionUse(gateway, uses))
  gateway.registry(searchSourceKind).add(runSource(gateway))
  for (const form of runForms(gateway, runWriter)) gateway.registry(formKind).add(form)
}

const RECENT_RUNS = 500
const RUN_LIMIT = '10'

/** The runs of an agent, whoever recorded them. */
const agentRuns = (gateway: Gateway): AgentSource => ({
  id: 'replay',
  order: 20,
  recent: async () => {
    const { rows } = await gateway.storage.find('runs', { limit: RECENT_RUNS })
    return [...new Set(rows.flatMap((run) => agentOf(run) ?? []))]
  },
  section: async (agent, ask) => {
    const { rows, next_cursor } = await findRuns(gateway.storage, { agent, limit: RUN_LIMIT }, ask.now)
    if (rows.length === 0) return undefined
    const runs = rows.map(runSummary)
    const steps = await firstSteps(gateway.storage, rows)
    const page = { runs, next_cursor: null, truncated: false, steps }
    return html`<h2 id="runs">Runs</h2>${pinForm(ask.url)}<form id="compare" action="/replay/compare" autocomplete="off"></form>
${listTable(gateway, { ...ask, query: new URLSearchParams({ agent }) }, page)}
<div class="below"><button form="compare" data-key="c">Compare selected</button>${next_cursor !== null && html`<a href="/replay?agent=${encodeURIComponent(agent)}">All runs</a>`}</div>`
  },
})

const MAX_RUNS = '50'

/** Calls by model, tool and command over the newest runs of an agent. */
const agentUse = (gateway: Gateway, uses: RecentUses): AgentSource => ({
  id: 'replay/use',
  order: 15,
  recent: async () => [],
  section: (agent, { now }) => useSection(gateway, uses, { agent }, now),
})

/** The same of a session. */
const sessionUse = (gateway: Gateway, uses: RecentUses): SessionSource => ({
  id: 'replay/use',
  order: 10,
  section: (session_id, { now }) => useSection(gateway, uses, { session_id }, now),
})

const useSection = async (
  gateway: Gateway,
  uses: RecentUses,
  filter: RawQuery,
  now: number,
): Promise<Html | undefined> => {
  const found = await findRuns(gateway.storage, { ...filter, limit: MAX_RUNS }, now)
  if (found.rows.length === 0) return undefined
  const recent = await uses.of(found.rows)
  const heading = html`<h2 id="use">Models and tools</h2>`
  if (recent.runs === 0)
    return html`${heading}<p class="quiet">The newest run is too long to be summed here; its own page has the table.</p>`
  const table = useTable(gateway, recent.uses)
  if (table === undefined) return undefined
  const isCut = recent.runs < found.rows.length || found.next_cursor !== null
  return html`${heading}${table}${isCut && html`<p class="quiet">Of the newest ${recent.runs === 1 ? 'run' : `${recent.runs} runs`}.</p>`}`
}

/** Page of the import form. */
const importPage = (gateway: Gateway, max_bytes: number): Page => ({
  id: 'replay/import',
  path: '/replay/import',
  render: async (ask) => ({ title: 'Import · Replay', main: mainOf(gateway, max_bytes, ask) }),
})

const conflicts = [
  ['remap', 'is imported under a new id'],
  ['skip', 'is left out'],
  ['fail', 'stops the import'],
] as const

const mainOf = (gateway: Gateway, max_bytes: number, { refused }: Ask): Html => {
  const formats = [...gateway.registry(exportFormatKind)].filter(
    ({ read, accepts }) => read !== undefined || accepts !== undefined,
  )
  const others = [...gateway.registry(importFormatKind)].map(({ title }) => title)
  const typed = (name: string): string => refused?.fields.get(name) ?? ''
  return html`<h1>Import runs</h1>
<p>A file that was exported as ${formats.map(({ id }) => id).join(', ')}${others.length > 0 && `, or one of ${others.join(', ')}`}, at most ${bytesText(max_bytes)}. What is secret is hidden before anything is stored.</p>
${refused !== undefined && errorBox(refused)}
<form class="stacked" method="post" action="/ui/runs/import" enctype="multipart/form-data">
<input type="hidden" name="return_to" value="/replay">
<label id="field-on_conflict">A run that is here already${choice('on_conflict', typed('on_conflict') || 'remap', conflicts)}</label>
<label>Project<input id="field-project_id" name="project_id" placeholder="as the file says" value="${typed('project_id')}"${invalidMark(refused, 'project_id')}></label>
<label>File<input id="field-file" type="file" name="file" required${invalidMark(refused, 'file')}></label>
<p><button class="main">Import</button> <a href="/replay">All runs</a></p>
</form>`
}

const invalidMark = (refused: Refusal | undefined, name: string): Html | '' =>
  refused?.faults.some(({ field }) => field === name) === true ? raw` aria-invalid="true"` : ''

/** Errors with their location, and the file name, because browsers do not select the file again. */
const errorBox = ({ fields, faults }: Refusal): Html => {
  const [name, line, path] = ['file_name', 'line', 'path'].map((field) => fields.get(field) ?? '')
  return html`${faultList(faults)}
<dl class="facts">${name !== '' && html`<dt>File</dt><dd><code>${name}</code> <span class="quiet">nothing of it was imported; choose it again when it is corrected</span></dd>`}
${line !== '' && html`<dt>Line</dt><dd>${line}</dd>`}${path !== '' && html`<dt>Path</dt><dd><code>${path}</code></dd>`}</dl>`
}

/** Spans that one table reads at most. */
const MAX_SPANS = 20_000
const CACHED_RUNS = 500

/** Use of several runs. */
interface RecentUse {
  readonly uses: UseTable
  /** How many runs it is of, the newest first. */
  readonly runs: number
}

/** Sums the use of runs. A run is read again only after it has changed. */
class RecentUses {
  readonly #storage: () => Reader
  readonly #known = new LRU<UseTable>(CACHED_RUNS)

  constructor(storage: () => Reader) {
    this.#storage = storage
  }

  /** The use of the newest of these runs, up to the first that would make it more than 20,000 spans. */
  async of(rows: readonly RunRow[]): Promise<RecentUse> {
    const uses = new Map<string, Use>()
    let [spans, runs] = [0, 0]
    for (const row of rows) {
      spans += row.span_count
      if (spans > MAX_SPANS) break
      mergeUse(uses, await this.#useOf(row))
      runs++
    }
    return { uses, runs }
  }

  async #useOf({ trace_id, revision }: RunRow): Promise<UseTable> {
    const key = `${trace_id} ${revision}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const uses = new Map<string, Use>()
    addUse(uses, (await readTrace(this.#storage(), trace_id)).spans)
    this.#known.set(key, uses)
    return uses
  }
}

const MAX_HITS = 10
const SPAN_ID = /^[0-9a-f]{16}$/
/** The beginning of a trace id, as lists show it. */
const BEGINNING = /^[0-9a-f]{6,31}$/

/** Finds runs by trace id, name, task and what they were exported as; spans; agents, sessions and projects of runs; and words. */
const runSource = (gateway: Gateway): SearchSource => ({
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
