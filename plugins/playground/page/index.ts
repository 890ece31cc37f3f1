import { type Gateway, GuardError, type Mode } from 'guard-gateway/core'
import { choice, decisionMark, durationMark, faultList, type Html, html, instantMark } from '#lib/html'
import { type Ask, type Form, formKind, type Page, type Posted, pageKind, type View } from '#lib/page'
import type { Administration } from '../administration.ts'
import { stylesOf } from '../dialects/index.ts'
import type { RunRequest } from '../run-request.ts'
import { unmetText } from '../run-text.ts'
import type { Runs } from '../runs.ts'
import { type Outcome, type Scenario, scenariosOf } from '../scenario.ts'
import type { PlaygroundRun, StepResult } from '../tables.ts'
import { runView } from '../views.ts'

/** What the pages serve from. */
export interface PageParts {
  readonly gateway: Gateway
  readonly runs: Runs
  readonly administration: Administration
}

/** Adds the pages of the Playground, and their forms. */
export const addPages = (parts: PageParts): void => {
  const { gateway } = parts
  gateway.registry(pageKind).add(scenariosPage(gateway))
  gateway.registry(pageKind).add(runPage(parts))
  gateway.registry(formKind).add(startForm(parts))
  gateway.registry(formKind).add(cancelForm(parts))
}

/** The steps wait so long for one another where a run is to be watched. */
const WATCHED_MS = 700

/** The form that starts a run, and leads to it. */
const startForm = ({ runs, administration }: PageParts): Form => ({
  id: 'playground/start',
  path: '/ui/playground/runs',
  page: '/playground',
  notices: {},
  submit: async ({ fields }: Posted) => {
    const { id } = await runs.start(orderIn(fields), administration)
    return { location: `/playground/runs/${id}` }
  },
})

/** Reads a form. Throws INVALID_REQUEST. */
const orderIn = (fields: URLSearchParams): RunRequest => {
  const style = fields.get('style') ?? ''
  return {
    scenario: fields.get('scenario') ?? '',
    mode: modeIn(fields.get('mode') ?? ''),
    pace_ms: fields.has('watch') ? WATCHED_MS : 0,
    ...(style === '' ? {} : { style }),
  }
}

const modeIn = (text: string): Mode => {
  if (text === '' || text === 'shadow') return 'shadow'
  if (text === 'enforce') return text
  throw new GuardError('INVALID_REQUEST', 'The mode of a run is shadow or enforce.', { path: '/mode' })
}

/** The form that ends a run. */
const cancelForm = ({ runs }: PageParts): Form => ({
  id: 'playground/cancel',
  path: '/ui/playground/runs/:id/cancel',
  page: '/playground/runs/:id',
  notices: { 'run-cancelled': 'Cancelled. What was under way is not told any more.' },
  submit: async ({ params }: Posted) => {
    await runs.cancel(params.id ?? '')
    return { notice: 'run-cancelled' }
  },
})

const LATEST = 5

/** The scenarios, each with what it shows and the button that runs it, and the runs recently. */
const scenariosPage = (gateway: Gateway): Page => ({
  id: 'playground',
  path: '/playground',
  nav: { label: 'Playground', order: 50, key: 'y' },
  render: async (ask) => ({ title: 'Playground', main: await mainOf(gateway, ask) }),
})

const kinds = [
  ['model', 'Requests of a model'],
  ['mcp', 'Calls of tools through the MCP proxy'],
] as const

const mainOf = async (gateway: Gateway, ask: Ask): Promise<Html> => {
  const { rows } = await gateway.storage.find('playground_runs', { limit: LATEST })
  const all = [...scenariosOf(gateway)]
  const typed = (name: string, other: string) => ask.refused?.fields.get(name) ?? other
  return html`<div data-live="*"><h1>Playground</h1>
<p>Short stories whose end is known, run through the real gateway with a provider that follows a script: no key, no cost. Each run is kept in <a href="/replay?q=playground">Replay</a> like any other traffic.</p>
${faultList(ask.refused?.faults ?? [])}
<form id="start" class="filters" method="post" action="/ui/playground/runs">
<label>Mode${choice('mode', typed('mode', 'enforce'), [
    ['enforce', 'enforce: block'],
    ['shadow', 'shadow: flag and forward'],
  ])}</label><label>API style${choice('style', typed('style', ''), [['', 'the usual one'], ...stylesOf(gateway).map((style) => [style, style] as const)])}</label><label class="tick"><input type="checkbox" name="watch"> Slowly, to watch</label></form>
${rows.length > 0 && html`<h2>Latest runs</h2>${runTable(ask, rows)}`}
${kinds.map(([kind, title]) =>
  scenarioTable(
    title,
    all.filter((scenario) => scenario.kind === kind),
  ),
)}</div>`
}

const scenarioTable = (title: string, scenarios: readonly Scenario[]): Html =>
  scenarios.length === 0
    ? html``
    : html`<h2>${title}</h2><table class="list rows stacks scenarios"><thead><tr><th scope="col" class="free">What it shows</th><th scope="col">Expected</th><th scope="col" class="figure">Steps</th><th scope="col"><span class="hidden-label">Run</span></th></tr></thead><tbody>
${scenarios.map((scenario) => scenarioRow(scenario))}</tbody></table>`

const scenarioRow = (scenario: Scenario): Html => {
  const { id, title, summary, steps } = scenario
  return html`<tr id="scenario-${id}" data-row><th scope="row"><strong>${title}</strong> <code class="quiet">${id}</code><br>${summary}</th>
<td>${ends(scenario)}</td><td class="figure">${steps.length}<span class="unit"> steps</span></td>
<td class="act"><button form="start" name="scenario" value="${id}" aria-label="Run ${title}">Run</button></td></tr>
`
}

/** What the last step that something is expected of ends with, in each mode. */
const ends = ({ steps }: Scenario): Html => {
  const last = steps.findLast(({ expect }) => expect.enforce.reason !== undefined) ?? steps.at(-1)
  if (last === undefined) return html``
  return html`${expectedMark(last.expect.enforce)}`
}

const runTable = ({ now }: Ask, rows: readonly PlaygroundRun[]): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col">Started</th><th scope="col" class="free">Scenario</th><th scope="col">Mode</th><th scope="col">Steps</th><th scope="col">Ended</th></tr></thead><tbody>
${rows.map(
  (
    run,
  ) => html`<tr id="run-${run.id}" data-row><td>${instantMark(run.created_at, now)}</td><th scope="row"><a href="/playground/runs/${run.id}">${run.scenario_id}</a></th><td>${run.mode}</td><td>${run.steps_done} of ${run.step_count}</td><td>${endMark(run)}</td></tr>
`,
)}</tbody></table>`

/** A run with its steps: the result of each next to the expected one. Throws PLAYGROUND_RUN_NOT_FOUND. */
const runPage = ({ gateway, runs }: PageParts): Page => ({
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

/** The status of a run: by its expectations where it has ended. */
const endMark = ({ status, matched }: Pick<PlaygroundRun, 'status' | 'matched'>): Html => {
  if (status === 'completed')
    return matched === true
      ? html`<span class="ok"><span aria-hidden="true">✓</span> as expected</span>`
      : html`<span class="error"><span aria-hidden="true">✕</span> not as expected</span>`
  if (status === 'failed') return html`<span class="error"><span aria-hidden="true">✕</span> failed</span>`
  return status === 'cancelled'
    ? html`<span class="quiet"><span aria-hidden="true">○</span> cancelled</span>`
    : html`<span class="running"><span aria-hidden="true">●</span> ${status}</span>`
}

/** What must come of a step. */
const expectedMark = ({ decision, action, reason, forwarded, outcome }: Outcome): Html =>
  resultMark({
    decision: decision ?? null,
    action: action ?? null,
    reason: reason ?? null,
    forwarded: forwarded ?? null,
    outcome: outcome ?? null,
  })

/** What came of a step, or has to. */
interface ObservedOutcome {
  readonly decision: string | null
  readonly action: string | null
  readonly reason: string | null
  readonly forwarded: boolean | null
  readonly outcome: string | null
}

/** A step's end as words: the decision, its reason, and whether a call reached its server. */
const resultMark = ({ decision, action, reason, forwarded, outcome }: ObservedOutcome): Html => {
  const word = decision ?? action
  return html`${word === null ? (outcome ?? html`<span class="quiet">any</span>`) : decisionMark(word)}${reason !== null && html` ${reason}`}${forwarded !== null && reason !== null && html` <span class="quiet">${forwarded ? 'forwarded' : 'not forwarded'}</span>`}`
}
