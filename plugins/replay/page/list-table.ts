import type { Gateway } from 'guard-gateway/core'
import { costHead, type Html, html } from '#lib/html'
import { shortId } from '#lib/ids'
import type { Ask } from '#lib/page'
import type { RunSummary } from '#lib/trace-file'
import { agentOf } from '../read/run-agent.ts'
import { urlOf } from '../run-address.ts'
import {
  agentLink,
  costMark,
  countMark,
  durationMark,
  middleEllipsis,
  runDuration,
  statusMark,
  tagMark,
  timeMark,
  titleOf,
} from './format.ts'
import { rowPinButton } from './forms.ts'
import { FROM_START, isNewestFirst, linked } from './links.ts'

export interface ListPage {
  readonly runs: readonly RunSummary[]
  readonly next_cursor: string | null
  /** The page ends early: later runs were not looked at. */
  readonly truncated: boolean
  /** Model or tool of the first step of unnamed runs, by trace id. */
  readonly steps: ReadonlyMap<string, string>
}

/** Table of runs; rows can be selected for a comparison. */
export const listTable = (gateway: Gateway, ask: Ask, { runs, steps }: ListPage): Html => {
  const { now, query } = ask
  const head = (label: string, sort: string, className = 'figure') => sortHead(query, label, sort, className)
  return html`<table class="runs stacks">
<thead><tr>
<th scope="col"><span class="hidden-label">Compare</span></th>
${head('Time', 'recorded', '')}
<th scope="col" class="free">Run</th><th scope="col">Agent</th><th scope="col" class="first-spare">Project</th><th scope="col">Status</th><th scope="col">Failure</th>
${head('Duration', 'duration')}
${head('Tokens', 'tokens', 'figure first-spare')}
${head(costHead(gateway), 'cost')}
<th scope="col" class="figure spare">Spans</th><th scope="col" class="spare">Session</th>
</tr></thead>
<tbody>
${runs.map((run) => listRow(run, { now, step: steps.get(run.trace_id) }))}
</tbody>
</table>`
}

/** Column head that sorts descending; a second click sorts ascending. */
const sortHead = (query: URLSearchParams, label: string, sort: string, className: string): Html => {
  const chosen = (query.get('sort') || 'recorded') === sort
  const falling = query.get('order') !== 'asc'
  const order = chosen && falling ? 'asc' : null
  const href = linked('/replay', query, { ...FROM_START, sort: sort === 'recorded' ? null : sort, order })
  const direction = !chosen ? 'none' : falling ? 'descending' : 'ascending'
  return html`<th scope="col" class="${className}" aria-sort="${direction}"><a href="${href}">${label}</a>${
    chosen && html`<span aria-hidden="true"> ${falling ? '↓' : '↑'}</span>`
  }</th>`
}

const MAX_BACK = 20

/** Links to the previous and next page. Each page carries the previous cursors, so that "newer" returns to the same page; without them it starts again. */
export const pageLinks = ({ query }: Ask, next_cursor: string | null): Html => {
  const cursor = query.get('cursor') ?? ''
  const before = (query.get('back') ?? '').split('.').filter((one) => one !== '')
  const newer = linked('/replay', query, {
    cursor: before.at(-1) ?? null,
    back: before.slice(0, -1).join('.'),
  })
  const older = linked('/replay', query, {
    cursor: next_cursor,
    back: (cursor === '' ? [] : [...before, cursor]).slice(-MAX_BACK).join('.'),
  })
  if (cursor === '' && next_cursor === null) return html``
  const [first, back, on] = isNewestFirst(query) ? ['newest', 'newer', 'older'] : ['first', 'previous', 'next']
  return html`<nav class="pages" aria-label="Pages of the list">
${cursor !== '' && html`<a href="${newer}" rel="prev">← ${before.length === 0 ? first : back}</a>`}
${next_cursor !== null && html`<a href="${older}" rel="next">${on} →</a>`}
</nav>`
}

/** Context of a row. */
interface RowContext {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly step: string | undefined
}

const listRow = (run: RunSummary, { now, step }: RowContext): Html => {
  const { trace_id, project_id, session_id } = run
  const agent = agentOf(run)
  const title = titleOf(run, step)
  const short = middleEllipsis(title)
  const took = runDuration(run, now)
  return html`<tr id="run-${trace_id}" data-row>
<td><input type="checkbox" name="run" value="${trace_id}" form="compare" aria-label="Compare ${short}"></td>
<td>${timeMark(run.recorded_ns, now)}</td>
<th scope="row">${rowPinButton(run, short)} <a href="${urlOf(trace_id)}"${title.length > 60 && html` title="${title}"`}><bdi>${short}</bdi></a>${run.origin === 'playground' && html` <em>Playground</em>`}</th>
<td>${agent !== null && agentLink(agent)}</td>
<td class="first-spare">${middleEllipsis(project_id, 22)}</td>
<td>${statusMark(run.status)}</td>
<td>${tagMark(run)}</td>
<td class="figure">${durationMark(took)}</td>
<td class="figure first-spare">${countMark(run.total_tokens)}</td>
<td class="figure">${costMark(run.cost_micro)}</td>
<td class="figure spare">${countMark(run.span_count)}</td>
<td class="spare">${session_id !== null && html`<a class="id" href="/replay?session_id=${encodeURIComponent(session_id)}">${shortId(session_id)}</a>`}</td>
</tr>`
}
