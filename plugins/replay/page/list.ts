import { failureTags, type Gateway, GuardError, type Reader, type SessionRow, statusOf } from 'guard-gateway/core'
import { bytesText } from '#lib/format'
import { choice, costUnit, type Html, html, newRowsMark, raw, suggestedValues } from '#lib/html'
import { type Ask, CHART_PARAMETERS, formKind, type Page, type View } from '#lib/page'
import { stateField } from '#lib/terminal'
import { RecentNames } from '#lib/trace'
import { runSummary } from '#lib/trace-file'
import { statuses } from '../api/filters.ts'
import { findRuns } from '../api/find-runs.ts'
import { leavesNoise } from '../api/noise.ts'
import type { Retention } from '../maintenance/retention.ts'
import { agentOf } from '../read/run-agent.ts'
import { NS_PER_MS } from '../time.ts'
import { firstSteps } from './first-steps.ts'
import { costMark, countMark, durationMark, timeMark } from './format.ts'
import { pinForm } from './forms.ts'
import { FROM_START, isNewestFirst, linked, listQuery } from './links.ts'
import { type ListPage, listTable, pageLinks } from './list-table.ts'

/** List of runs: search, filters, session totals, pins, and selection for a comparison. */
export const listPage = (gateway: Gateway, retention: Retention): Page => {
  const recent = new RecentNames(() => gateway.service('figures').get())
  return {
    id: 'replay',
    path: '/replay',
    nav: { label: 'Replay', order: 10, key: 'r' },
    render: async (ask) => {
      const [found, session, retained, news, charts, agents, projects, models] = await Promise.all([
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
      return viewOf(gateway, ask, found, { session, retained, news, charts, names })
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
    const parsed = listQuery(query)
    const { rows, next_cursor, truncated } = await findRuns(gateway.storage, parsed, now)
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
  readonly retained: string
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
  { session, retained, news, charts, names }: ViewParts,
): View => {
  const fault = 'message' in found ? found : undefined
  const isEmpty = 'runs' in found && found.runs.length === 0 && !isNarrowed(ask.query)
  const main = html`<div class="head"><h1>Replay</h1><p class="quiet">${retained}</p><a class="button" href="/replay/import">Import file</a></div>
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

/** Filters that the sums know, the time among them. */
const APPLIED = ['project_id', 'agent', 'agent_id', 'since', 'until']
/** What is no filter. */
const NEUTRAL = ['sort', 'order', 'limit', 'cursor', 'back', 'notice', ...CHART_PARAMETERS]
/** Runs of one session or task are few; what all others did says nothing of them. */
const NARROW = ['session_id', 'task_id']

/** Requests over time above the list, by those of its filters that the sums know. */
const listCharts = async (gateway: Gateway, ask: Ask): Promise<Html | undefined> => {
  const { query } = ask
  const present = [...new Set(query.keys())].filter((name) => query.get(name) !== '')
  if (present.some((name) => NARROW.includes(name))) return undefined
  const only = (name: string) => query.get(name) || undefined
  const agent_id = only('agent_id') ?? only('agent')
  const charts = gateway.service('charts').get()
  const options = { ask, isList: true, project_id: only('project_id'), agent_id }
  const drawn = await charts?.strip(options).catch((error: unknown) => {
    gateway.fault(error, 'replay:charts')
    return undefined
  })
  if (drawn === undefined) return undefined
  const others = present.filter((name) => !APPLIED.includes(name) && !NEUTRAL.includes(name))
  return html`<section aria-label="Requests over time">${drawn}${
    others.length > 0 &&
    html`<p class="quiet">The charts count all requests of this time${agent_id !== undefined && ', agent'}${only('project_id') !== undefined && ', project'}; they do not know the filter${others.length > 1 && 's'} ${others.join(', ')}.</p>`
  }</section>`
}

/** Session of the listed runs with its totals; undefined if the list is not filtered by a session. */
const sessionHead = async (gateway: Gateway, { query, url, now }: Ask): Promise<Html | undefined> => {
  const name = query.get('session_id') ?? ''
  if (name === '') return undefined
  const row = await known(gateway.storage, name)
  if (row === undefined)
    return html`<p class="quiet">Runs of session <code>${name}</code>, which this gateway has not led itself.</p>`
  const { id } = row
  const act = row.paused ? 'resume' : 'pause'
  const path = `/ui/sessions/${encodeURIComponent(id)}/${act}`
  return html`<section class="session" aria-label="Session">
<div class="head"><p>Session <a class="id" href="/sessions/${encodeURIComponent(id)}">${id}</a> ${
    row.external_id !== null && html`<span class="quiet">${row.external_id}</span> `
  }${row.paused && html`<strong class="warning">paused</strong>`}</p>${
    gateway.registry(formKind).get(`sessions/${act}`) !== undefined &&
    html`<form class="inline" method="post" action="${path}"><input type="hidden" name="return_to" value="${url}">${stateField(row)}<button>${row.paused ? 'Resume' : 'Pause'}</button></form>`
  }</div>
<p class="sums">${durationMark(BigInt(row.last_seen_at - row.created_at) * NS_PER_MS)} from first to last request · ${countMark(row.requests)} requests · ${countMark(row.total_tokens)} tokens · ${costMark(BigInt(row.cost_micro))} ${costUnit(gateway)} · ${row.flagged} flagged · ${row.blocked} blocked · ${row.errors} errors · last seen ${timeMark(BigInt(row.last_seen_at) * NS_PER_MS, now)}</p>
</section>`
}

/** Session by id, or by an external id that is unique. */
const known = async (storage: Reader, name: string): Promise<SessionRow | undefined> => {
  const row = await storage.get('sessions', name)
  if (row !== undefined) return row
  const { rows } = await storage.find('sessions', { where: { external_id: name }, limit: 2 })
  return rows.length === 1 ? rows[0] : undefined
}

const ages = [
  ['', 'any time'],
  ['15m', '15 minutes'],
  ['1h', '1 hour'],
  ['today', 'today'],
  ['24h', '24 hours'],
  ['yesterday', 'yesterday and today'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const

/** Parameters without a field, which the form retains. */
const RETAINED_FILTERS = [
  'session_id',
  'agent_id',
  'agent_name',
  'task_id',
  'origin',
  'tool',
  'pinned',
  'sort',
  'order',
  'until',
  'min_duration_ms',
  'max_duration_ms',
  'min_cost_micro',
  'min_tokens',
  'noise',
  'limit',
  ...CHART_PARAMETERS.filter((name) => name !== 'playground'),
]

/** What the fields of the form suggest. */
interface FilterNames {
  readonly agents: readonly string[]
  readonly projects: readonly string[]
  readonly models: readonly string[]
}

/** Search form of the list. `fault`: the invalid parameter. */
const filterForm = ({ query }: Ask, fault: string | undefined, names: FilterNames): Html => {
  const value = (name: string): string => query.get(name) ?? ''
  const each = (name: string): readonly string[] => {
    const present = query.getAll(name).filter((one) => one !== '')
    return present.length === 0 ? [''] : present
  }
  const wrong = (name: string) => (fault === name ? raw` aria-invalid="true" aria-describedby="fault"` : '')
  return html`<form class="filters" action="/replay" role="search">
<label class="wide">Search<input type="search" name="q" value="${value('q')}"${wrong('q')} placeholder="words of names, tools, attributes"></label>
<label>Agent<input name="agent" list="agents" value="${value('agent')}" size="12" placeholder="all"></label>
<label>Project<input name="project_id" list="projects" value="${value('project_id')}" size="12" placeholder="all"></label>
<label>Status${choice('status', value('status'), [['', 'any'], ...statuses.map((word) => [word, word] as const)])}</label>
<label>Failure${choice('failure_tag', value('failure_tag'), [
    ['', 'any or none'],
    ['any', 'any'],
    ['none', 'none'],
    ...failureTags.map((tag) => [tag, tag] as const),
  ])}</label>
${each('tag').map((tag) => html`<label>Tag<input name="tag" value="${tag}" size="10"></label>`)}
${each('model').map((model) => html`<label>Model<input name="model" list="models" value="${model}" size="14"></label>`)}
${each('attribute').map((text) => html`<label>Attribute<input name="attribute" value="${text}" size="24"${wrong('attribute')} placeholder="http.status>=500"></label>`)}
<label>Since${choice('since', value('since'), ages)}</label>
<label>Playground${choice('playground', value('playground'), [
    [value('playground') === 'show' ? 'show' : '', 'shown'],
    ['false', 'left out'],
    ['true', 'alone'],
  ])}</label>
${RETAINED_FILTERS.flatMap((name) => query.getAll(name).map((retained) => retained !== '' && html`<input type="hidden" name="${name}" value="${retained}">`))}
${suggestedValues('agents', names.agents)}${suggestedValues('projects', names.projects)}${suggestedValues('models', names.models)}<button>Search</button>
${isNarrowed(query) && html`<a class="clear" href="/replay">Clear</a>`}
</form>`
}

const NO_FILTERS = ['notice', 'back', 'cursor', 'sort', 'order', 'limit', 'noise', ...CHART_PARAMETERS]

/** Whether the list is filtered. */
const isNarrowed = (query: URLSearchParams): boolean =>
  [...query].some(
    ([name, value]) => value !== '' && (!NO_FILTERS.includes(name) || (name === 'playground' && value !== 'show')),
  )

const chips = [
  ['All', {}],
  ['Errors', { status: 'error' }],
  ['Loops', { failure_tag: 'loop' }],
  ['Blocked', { failure_tag: 'policy_block' }],
  ['Pinned', { pinned: 'true' }],
  ['Running', { status: 'running' }],
] as const satisfies readonly (readonly [string, Readonly<Record<string, string>>])[]

const OFF = { ...FROM_START, status: null, failure_tag: null, pinned: null }

/** Links of frequent filters. */
const filterChips = ({ query }: Ask): Html => {
  const isChosen = (preset: Readonly<Record<string, string>>) =>
    ['status', 'failure_tag', 'pinned'].every((name) => (query.get(name) ?? '') === (preset[name] ?? ''))
  return html`<nav class="chips" aria-label="Views">${chips.map(
    ([label, preset]) =>
      html`<a href="${linked('/replay', query, { ...OFF, ...preset })}"${isChosen(preset) ? raw` aria-current="true"` : ''}>${label}</a>`,
  )}</nav>`
}
