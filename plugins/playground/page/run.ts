import type { Gateway } from 'guard-gateway/core'
import { durationMark, type Html, html, instantMark } from 'guard-gateway/lib/html'
import type { Ask, Page, View } from 'guard-gateway/lib/page'
import { type Scenario, scenariosOf } from '../scenario.ts'
import type { PlaygroundRun, StepResult } from '../tables.ts'
import { unmetText } from '../unmet-text.ts'
import { runView } from '../views.ts'
import type { PageParts } from './index.ts'
import { endMark, expectedMark, resultMark } from './marks.ts'

/** A run with its steps: the result of each next to the expected one. Throws PLAYGROUND_RUN_NOT_FOUND. */
export const runPage = ({ gateway, runs }: PageParts): Page => ({
  id: 'playground/run',
  path: '/playground/runs/:id',
  render: async (ask) => runPageView(gateway, ask, await runs.need(ask.params.id ?? '')),
})

const runPageView = (gateway: Gateway, ask: Ask, run: PlaygroundRun): View => {
  const scenario = scenariosOf(gateway).get(run.scenario_id)
  const title = scenario?.title ?? run.scenario_id
  const active = run.ended_at === null
  const { replay_url } = runView(run)
  const main = html`<div data-live="*"${active && html` data-unfinished`}><div class="head"><h1>${title}</h1><p>${endMark(run)}</p><p class="acts">${active && cancelButton(run)}${replay_url !== null && html`<a href="${replay_url}">Show in Replay</a>`}</p></div>
${scenario !== undefined && html`<p>${scenario.summary}</p>`}
${factLine(ask, run)}
${rulesLine(scenario, run)}
${run.error !== null && html`<p class="unwell" role="alert">${run.error.message} <code>${run.error.code}</code></p>`}
${stepTable(scenario?.steps.map(({ what, expect }) => ({ what, expected: expect[run.mode] })) ?? [], run)}
${again(run)}</div>`
  return { title: `${title} · Playground`, main, ...(active ? { refresh_seconds: 1 } : {}) }
}

const factLine = ({ now }: Ask, run: PlaygroundRun): Html => {
  const { mode, style, steps_done, step_count, ended_at, session_id, project_id } = run
  const began = run.started_at ?? run.created_at
  return html`<p class="quiet">${mode}${style !== null && html` · ${style}`} · ${steps_done} of ${step_count} steps · started ${instantMark(began, now)}${ended_at !== null && html` · took ${durationMark(ended_at - began)}`}${session_id !== null && html` · <a href="/sessions/${session_id}">session</a>`} · <a href="/policies/${project_id}">policy</a></p>`
}

/** Whose rules the run is judged by, and the way to those for agents of one's own. */
const rulesLine = (scenario: Scenario | undefined, { mode }: PlaygroundRun): Html => {
  if (scenario?.kind !== 'model') return html``
  const rules =
    scenario.rules === undefined ? html`the rules of the preset <code>default</code>` : html`a rule of its own`
  return html`<p class="quiet">This run is judged by ${rules}, in its own project.${mode === 'enforce' && html` For agents of your own there is a preset that stops what is stuck and only flags the rest: <a href="/policies/default?preset=enforce-recommended">look at enforce-recommended</a>.`}</p>`
}

type Planned = Pick<StepResult, 'what' | 'expected'>

const stepTable = (planned: readonly Planned[], { steps, ended_at }: PlaygroundRun): Html => {
  const coming = ended_at === null ? planned.slice(steps.length) : []
  return html`<table class="list rows stacks steps"><thead><tr><th scope="col" class="figure">#</th><th scope="col" class="free">Step</th><th scope="col">Expected</th><th scope="col">Result</th><th scope="col"><span class="hidden-label">Verdict</span></th><th scope="col" class="figure">Took</th><th scope="col">Replay</th></tr></thead><tbody>
${steps.map(stepRow)}
${coming.map(
  (
    { what, expected },
    at,
  ) => html`<tr id="step-${steps.length + at + 1}" class="quiet"><td class="figure">${steps.length + at + 1}</td><th scope="row">${what}</th><td><span class="unit">expected </span>${expectedMark(expected)}</td><td>waits</td><td></td><td></td><td></td></tr>
`,
)}</tbody></table>`
}

const stepRow = (step: StepResult): Html => {
  const { index, what, expected, matched, missed, duration_ms, trace_id, span_id, http_status } = step
  return html`<tr id="step-${index}" data-row><td class="figure">${index}</td><th scope="row">${what}</th><td><span class="unit">expected </span>${expectedMark(expected)}</td>
<td><span class="unit">came </span>${resultMark(step)}${http_status !== null && html` <span class="quiet">${http_status}</span>`}</td>
<td>${matched ? html`<span class="ok status"><span aria-hidden="true">✓</span> met</span>` : html`<span class="error"><span aria-hidden="true">✕</span> missed</span> ${missed.map((name) => unmetText(name, step)).join('; ')}`}</td>
<td class="figure">${durationMark(duration_ms)}</td><td>${trace_id !== null && html`<a href="${spanUrl(trace_id, span_id)}">Show</a>`}</td></tr>
`
}

const spanUrl = (trace_id: string, span_id: string | null): string => {
  const run = `/replay/${encodeURIComponent(trace_id)}`
  const span = encodeURIComponent(span_id ?? '')
  return span === '' ? run : `${run}?span=${span}#span-${span}`
}

const cancelButton = ({ id }: PlaygroundRun): Html =>
  html`<form class="inline" method="post" action="/ui/playground/runs/${id}/cancel"><button>Cancel</button></form>`

/** The same scenario once more, in either mode. */
const again = ({ scenario_id, style }: PlaygroundRun): Html =>
  html`<form class="filters" method="post" action="/ui/playground/runs"><input type="hidden" name="scenario" value="${scenario_id}">${style !== null && html`<input type="hidden" name="style" value="${style}">`}<button name="mode" value="enforce">Run again, enforced</button> <button name="mode" value="shadow">Run again in shadow</button> <a class="clear" href="/playground">All scenarios</a></form>`
