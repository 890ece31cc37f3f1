import type { Gateway } from 'guard-gateway/core'
import { choice, faultList, type Html, html, instantMark } from 'guard-gateway/lib/html'
import type { Ask, Page } from 'guard-gateway/lib/page'
import { stylesOf } from '../dialects/index.ts'
import { type Scenario, scenariosOf } from '../scenario.ts'
import type { PlaygroundRun } from '../tables.ts'
import { endMark, expectedMark } from './marks.ts'

const LATEST = 5

/** The scenarios, each with what it shows and the button that runs it, and the runs recently. */
export const scenariosPage = (gateway: Gateway): Page => ({
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
