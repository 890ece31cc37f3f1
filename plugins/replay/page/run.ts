import { failureTags, type Gateway } from 'guard-gateway/core'
import { exportFormatKind } from '#lib/export-format'
import { bytesText } from '#lib/format'
import { costUnit, type Html, html, raw } from '#lib/html'
import { readJson } from '#lib/json'
import type { Ask, Page } from '#lib/page'
import type { Trace, TraceEvent, TreeSpan } from '#lib/trace'
import { writeTrace } from '#lib/trace-file'
import { decisionIn } from '../read/decisions.ts'
import { cachedInputOf } from '../read/model-tokens.ts'
import { agentOf } from '../read/run-agent.ts'
import type { RunCache } from '../read/run-cache.ts'
import { addUse, type Use } from '../read/use.ts'
import { urlOf } from '../run-address.ts'
import { decisionLine } from './decisions.ts'
import { unnamedTitle } from './first-steps.ts'
import { runLink } from './folding.ts'
import {
  agentLink,
  costMark,
  counted,
  countMark,
  durationMark,
  numbered,
  rowId,
  runDuration,
  sinceText,
  spanUrl,
  statusMark,
  timeMark,
  titleOf,
} from './format.ts'
import { pinButton, pinForm, tagsText } from './forms.ts'
import { linked } from './links.ts'
import { shapeOfTrace, spanTitle } from './shape.ts'
import { indented, timeline } from './timeline.ts'
import { LONG_ROWS } from './timeline-view.ts'
import { useTable } from './use/use-table.ts'
import { attributeTable, idMark } from './values.ts'
import { whyBox } from './why/why-box.ts'

/** Page of a run: why it failed, timeline, models and tools, events, files, raw bundle. Throws RUN_NOT_FOUND. */
export const runPage = (gateway: Gateway, cache: RunCache): Page => ({
  id: 'replay/run',
  path: '/replay/:trace_id',
  render: async (ask) => {
    const trace = await cache.trace(ask.params.trace_id ?? '')
    const { run } = trace
    const step = run.name === null ? await unnamedTitle(gateway.storage, run) : undefined
    // long runs are not live, because an update of thousands of rows is slow
    const live = trace.spans.length <= LONG_ROWS ? html` data-live="${run.trace_id}"` : ''
    const main = html`<div class="run"${live}>
${runHead(gateway, trace, ask, step)}
${await whyBox(gateway, trace, ask)}
${tabs(trace, ask)}
${viewOf(gateway, trace, ask)}
</div>`
    return { title: `${titleOf(run, step)} · Replay`, main }
  },
})

const views = ['timeline', 'use', 'events', 'artifacts', 'raw'] as const
type ViewName = (typeof views)[number]

const chosenView = ({ query }: Ask): ViewName => views.find((name) => name === query.get('view')) ?? 'timeline'

const tabs = ({ run }: Trace, ask: Ask): Html => {
  const chosen = chosenView(ask)
  const labels = {
    timeline: 'Timeline',
    use: 'Models and tools',
    events: `Events (${run.event_count})`,
    artifacts: `Files (${run.artifact_count})`,
    raw: 'Raw',
  }
  return html`<nav class="chips tabs" aria-label="Views">${views.map(
    (name) =>
      html`<a href="${runLink(ask.query, { view: name === 'timeline' ? null : name, after: null })}"${name === chosen ? raw` aria-current="true"` : ''}>${labels[name]}</a>`,
  )}</nav>`
}

const viewOf = (gateway: Gateway, trace: Trace, ask: Ask): Html => {
  switch (chosenView(ask)) {
    case 'use':
      return useView(gateway, trace)
    case 'events':
      return eventsView(trace, ask.query)
    case 'artifacts':
      return artifactsView(trace)
    case 'raw':
      return rawView(gateway, trace)
    default:
      return timeline(gateway, trace, ask)
  }
}

/** Calls of a run by model, tool and command. */
const useView = (gateway: Gateway, { spans }: Trace): Html => {
  const uses = new Map<string, Use>()
  addUse(uses, spans)
  return useTable(gateway, uses) ?? html`<p class="empty">This run calls no model, tool or command.</p>`
}

/** Metadata of a run's files; contents are not stored. */
const artifactsView = (trace: Trace): Html => {
  const { artifacts, spans, run } = trace
  if (artifacts.length === 0) return html`<p class="empty">This run names no files.</p>`
  const shape = shapeOfTrace(trace)
  return html`<table class="list stacks"><thead><tr><th scope="col" class="free">Path</th><th scope="col">Type</th><th scope="col" class="figure">Size</th><th scope="col">Span</th><th scope="col">SHA-256</th></tr></thead><tbody>
${artifacts.map(({ id, path, mime_type, size, sha256, span_id }) => {
  const span = spans[(span_id === null ? undefined : shape.places.get(span_id)) ?? -1]
  return html`<tr id="artifact-${id}" data-row><th scope="row"><code>${path}</code></th><td>${mime_type}</td><td class="figure">${size !== null && html`<span title="${size} bytes">${bytesText(size)}</span>`}</td>
<td>${span !== undefined && html`<a href="${spanUrl(run.trace_id, span.id)}">${numbered(spanTitle(shape, span))}</a>`}</td><td>${sha256 !== null && idMark(sha256)}</td></tr>`
})}</tbody></table>`
}

const MAX_CHARS = 200_000

/** Start of a run's exported bundle; a short one is indented. */
const rawView = (gateway: Gateway, trace: Trace): Html => {
  let text = ''
  for (const piece of writeTrace(gateway.registry(exportFormatKind).need('json'), trace)) {
    text += piece
    if (text.length > MAX_CHARS) break
  }
  const cut = text.length > MAX_CHARS
  return html`${cut && html`<p class="quiet">The first ${bytesText(MAX_CHARS)}; an export holds all of it.</p>`}
<pre class="raw" tabindex="0" role="region" aria-label="Bundle">${cut ? text.slice(0, MAX_CHARS).toWellFormed() : indented(readJson(text))}</pre>`
}

const PAGE_EVENTS = 200

interface Placed {
  readonly event: TraceEvent
  readonly span: TreeSpan | undefined
}

/** All events of a run in chronological order. */
const eventsView = (trace: Trace, query: URLSearchParams): Html => {
  const all = placedIn(trace)
  if (all.length === 0) return html`<p class="empty">This run has no events.</p>`
  const requested = Number(query.get('after') ?? 0)
  const after = Number.isInteger(requested) && requested > 0 && requested < all.length ? requested : 0
  const end = Math.min(all.length, after + PAGE_EVENTS)
  return html`<table class="list stacks"><thead><tr><th scope="col" class="figure">At</th><th scope="col">Event</th><th scope="col">Decision</th><th scope="col">Span</th><th scope="col" class="free">Attributes</th></tr></thead><tbody>
${all.slice(after, end).map((placed) => eventRow(trace, placed))}</tbody></table>
${pages(query, after, end, all.length)}`
}

const placedIn = ({ spans, events }: Trace): readonly Placed[] => {
  const placed: Placed[] = events.map((event) => ({ event, span: undefined }))
  for (const span of spans) for (const event of span.events) placed.push({ event, span })
  return placed.sort((a, b) => Number(a.event.time_ns - b.event.time_ns))
}

const eventRow = (trace: Trace, { event, span }: Placed): Html => {
  const decision = decisionIn(event)
  const { trace_id, start_ns } = trace.run
  const attributes = Object.keys(event.attributes).length
  return html`<tr id="event-${event.id}" data-row><td class="figure">${sinceText(event.time_ns - start_ns)}</td>
<th scope="row">${event.name}${event.severity === 'error' && html` <span class="error">✕ error</span>`}</th>
<td>${decision !== undefined && decisionLine(decision)}</td>
<td>${span === undefined ? html`<span class="quiet">the run</span>` : html`<a href="${spanUrl(trace_id, span.id)}">${numbered(spanTitle(shapeOfTrace(trace), span))}</a>`}</td>
<td><details><summary>${attributes}<span class="unit"> attribute${attributes !== 1 && 's'}</span></summary>${attributeTable(event.attributes)}</details></td></tr>
`
}

const pages = (query: URLSearchParams, after: number, end: number, count: number): Html => {
  if (count <= PAGE_EVENTS) return html``
  const link = (to: number) => linked('', query, { after: String(to) })
  return html`<nav class="pages" aria-label="Events">${after > 0 && html`<a href="${link(Math.max(0, after - PAGE_EVENTS))}">← previous</a>`}
<span class="quiet">${after + 1} to ${end} of ${count}</span>
${end < count && html`<a href="${link(end)}">next →</a>`}</nav>`
}

/** Head of a run's page: status, failure, actions, totals and tags. */
const runHead = (gateway: Gateway, trace: Trace, ask: Ask, step: string | undefined): Html => {
  const { run } = trace
  const id = encodeURIComponent(run.trace_id)
  return html`<div class="head"><h1>${titleOf(run, step)}</h1>
<p>${statusMark(run.status)}${failureMark(trace, ask)}</p>
<div class="acts">${pinForm(linked(urlOf(run.trace_id), ask.query, { part: null }))}${pinButton(run)} <a href="/replay/compare?left=${id}">Compare with…</a>
<span class="exports">Export ${gateway
    .registry(exportFormatKind)
    .ids()
    .map(
      (format) => html`<a href="/api/v1/runs/${id}/export?format=${format}" download>${format}</a> `,
    )}</span></div></div>
<p class="sums">${sums(gateway, trace, ask.now)}</p>
<p class="sums">${origin(trace, ask)}</p>
<div class="edits">${tagsForm(trace, ask)}${failureForm(trace, ask)}</div>`
}

/** Failure tag with the reason of its decision and a link to its span. */
const failureMark = (trace: Trace, ask: Ask): Html => {
  const { failure_tag, failure_evidence: evidence } = trace.run
  if (failure_tag === null) return html``
  const shape = shapeOfTrace(trace)
  const span = trace.spans[(evidence?.span_id ? shape.places.get(evidence.span_id) : undefined) ?? -1]
  const reason = span === undefined ? '' : reasonIn(span, evidence?.event_id ?? null)
  return html` · <strong>${failure_tag}</strong>${
    span !== undefined &&
    html` ← ${reason !== '' && html`<code>${reason}</code> at `}<a href="${runLink(ask.query, { span: span.id, view: null, after: null }, rowId(span.id))}">${numbered(spanTitle(shape, span))}</a>`
  }`
}

/** Reason of the evidence event, else the first reason of the span. */
const reasonIn = ({ events }: TreeSpan, event_id: string | null): string => {
  const reasons = events
    .filter(({ id }) => id === event_id)
    .concat(events)
    .map((event) => decisionIn(event)?.reason ?? '')
  return reasons.find((reason) => reason !== '') ?? ''
}

const sums = (gateway: Gateway, { run, spans }: Trace, now: number): Html => {
  const cached = cachedInputOf(spans)
  return html`${durationMark(runDuration(run, now))} · ${countMark(run.total_tokens)} tokens <span class="quiet">(${countMark(run.input_tokens)} in${cached > 0n && html` (${countMark(cached)} cached)`}, ${countMark(run.output_tokens)} out)</span> · ${costMark(run.cost_micro)} ${costUnit(gateway)} · ${counted(run.span_count, 'span')} · ${counted(run.event_count, 'event')}${run.artifact_count > 0 && html` · ${counted(run.artifact_count, 'file')}`}`
}

const origin = ({ run }: Trace, { now }: Ask): Html =>
  html`<span class="quiet">started</span> ${timeMark(run.start_ns, now)} · <span class="quiet">project</span> <a href="/replay?project_id=${encodeURIComponent(run.project_id)}">${run.project_id}</a>${
    run.session_id !== null &&
    html` · <span class="quiet">session</span> <a class="id" href="/replay?session_id=${encodeURIComponent(run.session_id)}">${run.session_id}</a>`
  }${agentText(run)}${run.task_id !== null && html` · <span class="quiet">task</span> ${run.task_id}`} · <span class="quiet">by</span> ${run.origin} · <span class="quiet">id</span> <code>${run.trace_id}</code> <button class="plain" data-copy="${run.trace_id}">Copy</button>${
    run.source_trace_id !== null &&
    run.source_trace_id !== run.trace_id &&
    html` · <span class="quiet">from</span> <code>${run.source_trace_id}</code>`
  }`

/** The agent; beside an id the name that its client gave, if it is another. */
const agentText = (run: Trace['run']): Html => {
  const agent = agentOf(run)
  if (agent === null) return html``
  const { agent_name } = run
  return html` · <span class="quiet">agent</span> ${agentLink(agent, 60)}${agent_name !== null && agent_name !== agent && html` <span class="quiet"><bdi>${agent_name}</bdi></span>`}`
}

const faultsOf = ({ refused }: Ask, form: string) => (refused?.form === form ? refused : undefined)

const tagsForm = ({ run }: Trace, ask: Ask): Html => {
  const refused = faultsOf(ask, 'replay/tags')
  return html`<details id="tags"${refused !== undefined && raw` open`}><summary>Tags: ${run.tags.length === 0 ? 'none' : tagsText(run.tags)}</summary>
<form method="post" action="/ui/runs/${encodeURIComponent(run.trace_id)}/tags"><input type="hidden" name="return_to" value="${urlOf(run.trace_id)}">
<label>Tags, with commas between <input name="tags" value="${refused?.fields.get('tags') ?? tagsText(run.tags)}" size="40"${refused !== undefined && raw` aria-invalid="true" aria-describedby="tags-fault"`}></label> <button>Save tags</button>
${refused !== undefined && html`<p class="fault" id="tags-fault">${refused.faults.map(({ message }) => message).join(' ')}</p>`}</form></details>`
}

const failureForm = ({ run }: Trace, ask: Ask): Html => {
  const refused = faultsOf(ask, 'replay/failure-tag')
  const chosen = run.failure_tag_source === 'explicit' ? run.failure_tag : null
  return html`<details id="failure-tag"${refused !== undefined && raw` open`}><summary>Failure tag: ${run.failure_tag ?? 'none'}${run.failure_tag_source === 'explicit' && ' (set by hand)'}</summary>
<form method="post" action="/ui/runs/${encodeURIComponent(run.trace_id)}/failure-tag"><input type="hidden" name="return_to" value="${urlOf(run.trace_id)}">
<label>Failure tag <select name="failure_tag"><option value="">found by rule</option>${failureTags.map(
    (tag) => html`<option value="${tag}"${tag === chosen ? raw` selected` : ''}>${tag}</option>`,
  )}</select></label> <button>Save failure tag</button>
${refused !== undefined && html`<p class="fault">${refused.faults.map(({ message }) => message).join(' ')}</p>`}</form></details>`
}
