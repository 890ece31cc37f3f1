import { type Gateway, GuardError, statusOf } from 'guard-gateway/core'
import { bytesText } from 'guard-gateway/lib/format'
import { type Html, html, newRowsMark } from 'guard-gateway/lib/html'
import type { Ask, Page, View } from 'guard-gateway/lib/page'
import { RecentNames } from 'guard-gateway/lib/trace'
import { runSummary } from 'guard-gateway/lib/trace-file'
import { findRuns } from '../api/find-runs.ts'
import { leavesNoise } from '../api/noise.ts'
import type { Retention } from '../maintenance/retention.ts'
import { agentOf } from '../read/run-agent.ts'
import { listCharts } from './charts.ts'
import { firstSteps } from './first-steps.ts'
import { FROM_START, isNewestFirst, linked, listQuery } from './links.ts'
import { type FilterNames, filterChips, filterForm, isNarrowed } from './list-filters.ts'
import { type ListPage, listTable, pageLinks } from './list-table.ts'
import { pinForm } from './pin-button.ts'
import { sessionHead } from './session-head.ts'

/** List of runs: search, filters, session totals, pins, and selection for a comparison. */
export const listPage = (gateway: Gateway, retention: Retention): Page => {
  const recent = new RecentNames(() => gateway.service('figures').get())
  return {
    id: 'replay',
    path: '/replay',
    nav: { label: 'Replay', order: 10, key: 'r' },
    render: async (ask) => {
      const [found, session, kept, news, charts, agents, projects, models] = await Promise.all([
        foundRuns(gateway, ask),
        sessionHead(gateway, ask),
        retentionText(gateway, retention),
        newRunsNote(gateway, ask),
        listCharts(gateway, ask),
        recent.of('agent', ask.now),
        recent.of('project', ask.now),
        recent.of('model', ask.now),
      ])
      const names = namesOn(found, { agents, projects, models })
      return viewOf(gateway, ask, found, { session, kept, news, charts, names })
    },
  }
}

interface Fault {
  readonly field: string | undefined
  readonly message: string
}

/** Runs of the query, or its error. */
const foundRuns = async (gateway: Gateway, { query, now }: Ask): Promise<ListPage | Fault> => {
  try {
    const asked = listQuery(query)
    const { rows, next_cursor, truncated } = await findRuns(gateway.storage, asked, now)
    return {
      runs: rows.map(runSummary),
      next_cursor,
      truncated,
      steps: await firstSteps(gateway.storage, rows),
    }
  } catch (error) {
    if (!(error instanceof GuardError) || statusOf(error) !== 400) throw error
    return { field: error.place.path?.replace(/^\//, ''), message: error.message }
  }
}

/** Newest run for the "new runs" note of later pages; undefined for other sort orders. */
const newRunsNote = async ({ storage }: Gateway, { query, now }: Ask): Promise<Html | undefined> => {
  if (!query.get('cursor') || !isNewestFirst(query)) return undefined
  const { cursor: _cursor, ...wanted } = listQuery(query)
  try {
    const [newest] = (await findRuns(storage, { ...wanted, limit: '1' }, now)).rows
    return newest && newRowsMark(linked('/replay', query, FROM_START), `run-${newest.trace_id}`, 'run')
  } catch (error) {
    if (!(error instanceof GuardError) || statusOf(error) !== 400) throw error
    return undefined
  }
}

/** What stands above the list. */
interface ViewParts {
  readonly session: Html | undefined
  readonly kept: string
  readonly news: Html | undefined
  readonly charts: Html | undefined
  readonly names: FilterNames
}

/** Names of recent calls, and those of the runs of this page, which other programs may have sent. */
const namesOn = (found: ListPage | Fault, { agents, projects, models }: FilterNames): FilterNames => {
  const runs = 'runs' in found ? found.runs : []
  return {
    agents: [...new Set([...agents, ...runs.flatMap((run) => agentOf(run) ?? [])])],
    projects: [...new Set([...projects, ...runs.map(({ project_id }) => project_id)])],
    models,
  }
}

const viewOf = (
  gateway: Gateway,
  ask: Ask,
  found: ListPage | Fault,
  { session, kept, news, charts, names }: ViewParts,
): View => {
  const fault = 'message' in found ? found : undefined
  const isEmpty = 'runs' in found && found.runs.length === 0 && !isNarrowed(ask.query)
  const main = html`<div class="head"><h1>Replay</h1><p class="quiet">${kept}</p><a class="button" href="/replay/import">Import file</a></div>
${session}${filterForm(ask, fault?.field, names)}
${filterChips(ask)}
${fault === undefined && !isEmpty && charts}${news}${fault !== undefined && html`<p class="faults" id="fault" role="alert">${fault.message}</p>`}
${'runs' in found && bodyOf(gateway, ask, found)}`
  return { title: 'Replay', main, ...(fault === undefined ? {} : { status: 400 }) }
}

const bodyOf = (gateway: Gateway, ask: Ask, page: ListPage): Html => {
  if (page.runs.length === 0 && page.truncated)
    return html`<p class="empty">None of the runs that were looked at matches. There are older ones.</p><div class="below">${pageLinks(ask, page.next_cursor)}</div>`
  if (page.runs.length === 0) return html`<div${live(ask)}>${emptyText(gateway, ask)}${noiseText(ask)}</div>`
  return html`${pinForm(ask.url)}<form id="compare" action="/replay/compare" autocomplete="off"></form>
<div${live(ask)}>
${listTable(gateway, ask, page)}
<div class="below"><button form="compare" data-key="c">Compare selected</button>${pageLinks(ask, page.next_cursor)}</div>
${noiseText(ask)}
</div>`
}

/** What is left out, and how to see it. */
const noiseText = ({ query }: Ask): Html | false =>
  leavesNoise(query) &&
  html`<p class="quiet">Telemetry without any call of a model or tool is left out. <a href="${linked('/replay', query, { ...FROM_START, noise: 'show' })}">Show it</a></p>`

/** Later pages are not live. */
const live = ({ query }: Ask): Html | '' => (query.has('cursor') ? '' : html` data-live="*"`)

const emptyText = ({ calledAs }: Gateway, { query }: Ask): Html =>
  isNarrowed(query)
    ? html`<p class="empty">No run matches. ${exactMatchHint(query)}<a href="/replay">Clear the filters</a></p>`
    : html`<div class="empty"><p>No runs yet. Start an agent through Guard, or let a scenario run:</p>
${['run -- claude', 'playground run exact-loop'].map((words) => commandMark(`${calledAs.here} ${words}`))}</div>`

const commandMark = (command: string): Html =>
  html`<p><code>${command}</code> <button data-copy="${command}">Copy</button></p>`

const NAMES = ['project_id', 'agent', 'agent_id', 'agent_name', 'task_id', 'session_id', 'tag', 'model', 'tool']

/** Hint that a filter compares whole values. */
const exactMatchHint = (query: URLSearchParams): Html => {
  const word = query.get('q') ?? ''
  return html`${word !== '' && !word.includes('*') && html`Words are looked for whole; <code>pars*</code> finds what begins so. `}${NAMES.some((name) => query.get(name)) && 'Names are compared whole. '}`
}

/** Retention and size of the store. */
const retentionText = async (gateway: Gateway, { settings: { days, max_bytes } }: Retention): Promise<string> => {
  const bytes = bytesText(await gateway.storage.bytes())
  const size = max_bytes === null ? bytes : `${bytes} of ${bytesText(max_bytes)}`
  return `Kept ${days === null ? 'for ever' : `for ${days} days`}, ${size}`
}
