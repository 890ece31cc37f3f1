import type { Mode, Rule } from 'guard-gateway/core'
import { approverField } from 'guard-gateway/lib/approver'
import { byRemainingShare, RECOMMENDED } from 'guard-gateway/lib/budget'
import { choice, faultList, type Html, html } from 'guard-gateway/lib/html'
import type { FieldFault, View } from 'guard-gateway/lib/page'
import { DEFAULT_PROJECT } from 'guard-gateway/lib/session'
import { budgetTable } from 'guard-gateway/lib/terminal'
import { type Warning, warningsOf } from '../document/warnings.ts'
import { sourceOf } from '../policy.ts'
import type { Draft } from './draft.ts'
import { historySection } from './history.ts'
import type { PageParts } from './index.ts'
import { modeText, sourceMark } from './list.ts'
import { readPolicy } from './read.ts'
import { ruleRow } from './rule-row.ts'
import { simulationSection } from './simulation.ts'

/** A policy that can be used, as a form says it. */
export interface SimulatedPolicy {
  readonly mode: Mode | null
  readonly rules: readonly Rule[]
}

/** What the page of a policy shows. */
export interface PolicyPageState {
  readonly project_id: string
  /** Milliseconds since 1970. */
  readonly now: number
  readonly draft: Draft
  /** The form holds what is not stored. */
  readonly edited: boolean
  readonly faults?: readonly FieldFault[]
  /** What was asked to be tried on stored traffic. */
  readonly simulated?: SimulatedPolicy
  /** Saving starts to enforce, and is to be confirmed. */
  readonly confirming?: boolean
  /** Somebody else has saved since the form was shown. */
  readonly conflicting?: boolean
  /** The draft that an address names is not kept any more. */
  readonly lost?: boolean
}

/** The page of a policy: its rules as a form, what trying them gave, and its earlier versions. */
export const policyView = async (parts: PageParts, shown: PolicyPageState): Promise<View> => {
  const { project_id, faults = [], conflicting = false, confirming = false, lost = false } = shown
  const policy = await parts.policies.load(project_id)
  const { source, version } = sourceOf(policy, project_id)
  const main = html`<h1>Policy of ${project_id}</h1>
<p>${modeText(policy.mode, parts.default_mode())} · ${sourceMark(policy, project_id)} · <a href="/sessions?project_id=${project_id}">sessions</a> · <a href="/replay?project_id=${project_id}">runs</a></p>
${project_id === DEFAULT_PROJECT ? html`<p class="quiet">It holds for every project that has no policy of its own; a budget of a project counts for each of them apart.</p>` : source !== 'own' && html`<p class="quiet">This project has no policy of its own: what is saved here takes the place of that of <a href="/policies/${DEFAULT_PROJECT}">${DEFAULT_PROJECT}</a> for this project alone.</p>`}
${conflicting && html`<div class="faults" role="alert"><p>Somebody has saved version ${version} meanwhile. Your changes are below, unsaved. Save them over it, or <a href="/policies/${project_id}">look at what is in force now</a>.</p></div>`}
${lost && html`<p class="notice">The changes that this address names were not saved and are not kept any more. Below stands what is in force.</p>`}
${faultList(faults)}
${confirming && html`<div class="faults" role="alert"><p>From the moment this is saved, requests that match a blocking rule are refused. Press “Save and enforce” below if that is meant.</p></div>`}
${shown.simulated !== undefined && (await simulationSection(parts, shown, shown.simulated, parts.default_mode()))}
${shown.edited && !conflicting && !confirming && faults.length === 0 && html`<p class="notice">These changes are not saved.</p>`}
${await form(parts, shown)}
${await budgetSection(parts, shown)}${await historySection(parts.gateway, shown, project_id)}`
  const status = faults.length > 0 ? 422 : conflicting ? 409 : 200
  return { title: `${project_id} · Policies`, main, status }
}

/** What is left now of the budgets of the project and its agents, by the policy in force. */
const budgetSection = async ({ gateway }: PageParts, { project_id, now }: PolicyPageState): Promise<Html> => {
  const budgets = (await gateway.service('rules').get()?.budgets({ project_id })) ?? []
  return budgets.length === 0
    ? html``
    : html`<h2>What is left</h2>${budgetTable(byRemainingShare(budgets), now)}
`
}

const form = async (parts: PageParts, shown: PolicyPageState): Promise<Html> => {
  const { project_id, draft, faults = [], confirming = false } = shown
  const warnings = await warningsIn(parts, project_id, draft)
  const { detectors, approver } = parts.gateway
  const { rules } = draft
  return html`<form id="policy" method="post" action="/ui/policies/${project_id}">
<button class="hidden-label" name="intent" value="save" tabindex="-1" aria-hidden="true">Save</button>
<input type="hidden" name="expected_version" value="${draft.version}">${confirming && html`<input type="hidden" name="confirmed" value="yes">`}
<p class="filters"><label id="field-mode">Mode${choice('mode', draft.mode, [
    ['', `of the configuration (${parts.default_mode()})`],
    ['shadow', 'shadow: flag and forward'],
    ['enforce', 'enforce: block'],
  ])}</label></p>
${warnings.filter(({ path }) => path === '/mode').map(({ message }) => modeWarning(message, parts))}
<table class="list rules stacks"><thead><tr><th scope="col" class="figure">#</th><th scope="col">Type and id</th><th scope="col">Threshold</th><th scope="col">Window</th><th scope="col">Action</th><th scope="col">On</th><th scope="col" class="free">Params and note</th><th scope="col">Order</th></tr></thead><tbody>
${rules.map((rule, index) =>
  ruleRow(rule, {
    index,
    last: index === rules.length - 1,
    types: detectors.ids(),
    detector: detectors.get(rule.rule_type),
    faults,
    warnings,
  }),
)}</tbody></table>
<p class="quiet">The first rule that matches is the reason that is reported. An empty threshold or window takes its type's default.</p>
<p class="buttons"><button name="intent" value="add">Add a rule</button>${presetButtons(parts)}</p>
${approver.needsKey && html`<p class="filters">${approverField(approver, faults, 'optional')}</p>`}
<p class="buttons"><button class="${draft.mode === 'enforce' ? 'grave' : 'main'}" name="intent" value="save">${draft.mode === 'enforce' ? 'Save and enforce' : 'Save'}</button> <button name="intent" value="simulate">Try on stored traffic</button> <a class="button" href="/policies/${project_id}">Discard</a></p>
</form>`
}

/** What is odd about the mode, with the button that puts other rules into the form. */
const modeWarning = (message: string, { presets }: PageParts): Html =>
  html`<p class="warning">${message}${Object.hasOwn(presets, RECOMMENDED) && html` <button name="intent" value="preset:${RECOMMENDED}">Use the rules of ${RECOMMENDED}</button>`}</p>`

const presetButtons = ({ presets }: PageParts): Html => {
  const names = Object.keys(presets)
  return html`${names.length > 0 && html`<span class="quiet">Rules of a preset:</span>`}${names.map((name) => html`<button name="intent" value="preset:${name}">${name}</button>`)}`
}

const warningsIn = async (parts: PageParts, project_id: string, draft: Draft): Promise<readonly Warning[]> => {
  const read = await readPolicy(parts.gateway, draft)
  return 'faults' in read ? [] : warningsOf({ project_id, ...read }, parts)
}
