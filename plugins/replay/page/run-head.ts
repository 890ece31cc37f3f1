import { failureTags, type Gateway } from 'guard-gateway/core'
import { exportFormatKind } from 'guard-gateway/lib/export-format'
import { costUnit, type Html, html, raw } from 'guard-gateway/lib/html'
import type { Ask } from 'guard-gateway/lib/page'
import type { Trace, TreeSpan } from 'guard-gateway/lib/trace'
import { decisionIn } from '../read/decisions.ts'
import { cachedInputOf } from '../read/model-tokens.ts'
import { agentOf } from '../read/run-agent.ts'
import { urlOf } from '../run-address.ts'
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
  statusMark,
  timeMark,
  titleOf,
} from './format.ts'
import { linked } from './links.ts'
import { pinButton, pinForm } from './pin-button.ts'
import { shapeOfTrace, spanTitle } from './shape.ts'
import { tagsText } from './tags.ts'

/** Head of a run's page: status, failure, actions, totals and tags. */
export const runHead = (gateway: Gateway, trace: Trace, ask: Ask, step: string | undefined): Html => {
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
