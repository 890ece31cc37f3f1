import type { Detector, Gateway, Mode, Rule } from 'guard-gateway/core'
import { approverField } from '#lib/approver'
import { byRemainingShare, RECOMMENDED } from '#lib/budget'
import { choice, costHead, countMark, faultList, type Html, html, instantMark, priceMark, raw } from '#lib/html'
import type { FieldFault, View } from '#lib/page'
import { DEFAULT_PROJECT } from '#lib/session'
import { budgetTable } from '#lib/terminal'
import { type Warning, warningsOf } from '../document/warnings.ts'
import { type PolicySource, sourceOf } from '../policy.ts'
import { type FlaggedSession, type RuleTotal, type Simulation, simulate } from '../simulate/index.ts'
import type { PolicyVersionRow } from '../tables.ts'
import type { Confirmable, Draft, RuleDraft } from './draft.ts'
import { modeText, type PageParts, sourceMark } from './list.ts'
import { readPolicy } from './read.ts'

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
  /** Saving starts to enforce, or the policy is to be removed; a second press confirms it. */
  readonly confirming?: Confirmable | undefined
  /** Somebody else has saved since the form was shown. */
  readonly conflicting?: boolean
  /** The draft that an address names is not kept any more. */
  readonly lost?: boolean
}

/** The page of a policy: its rules as a form, what trying them gave, and its earlier versions. */
export const policyView = async (parts: PageParts, state: PolicyPageState): Promise<View> => {
  const { project_id, faults = [], conflicting = false, confirming, lost = false } = state
  const policy = await parts.policies.load(project_id)
  const { source, version } = sourceOf(policy, project_id)
  const main = html`<h1>Policy of ${project_id}</h1>
<p>${modeText(policy.mode, parts.default_mode())} · ${sourceMark(policy, project_id)} · <a href="/sessions?project_id=${project_id}">sessions</a> · <a href="/replay?project_id=${project_id}">runs</a></p>
${project_id === DEFAULT_PROJECT ? html`<p class="quiet">It holds for every project that has no policy of its own; a budget of a project counts for each of them apart.</p>` : source !== 'own' && html`<p class="quiet">This project has no policy of its own: what is saved here takes the place of that of <a href="/policies/${DEFAULT_PROJECT}">${DEFAULT_PROJECT}</a> for this project alone.</p>`}
${conflicting && html`<div class="faults" role="alert"><p>Somebody has ${version === 0 ? 'removed this policy' : html`saved version ${version}`} meanwhile. Your changes are below, unsaved. Save them over it, or <a href="/policies/${project_id}">look at what is in force now</a>.</p></div>`}
${lost && html`<p class="notice">The changes that this address names were not saved and are not kept any more. Below stands what is in force.</p>`}
${faultList(faults)}
${confirming === 'enforce' && html`<div class="faults" role="alert"><p>From the moment this is saved, requests that match a blocking rule are refused. Press “Save and enforce” below if that is meant.</p></div>`}
${confirming === 'remove' && (await removalText(parts, project_id))}
${state.simulated !== undefined && (await simulationSection(parts, state, state.simulated, parts.default_mode()))}
${state.edited && !conflicting && confirming === undefined && faults.length === 0 && html`<p class="notice">These changes are not saved.</p>`}
${await form(parts, state, source)}
${await budgetSection(parts, state)}${await historySection(parts.gateway, state, version)}`
  const status = faults.length > 0 ? 422 : conflicting ? 409 : 200
  return { title: `${project_id} · Policies`, main, status }
}

/** What holds once the policy of a project is removed, before that is confirmed. */
const removalText = async ({ policies, default_mode }: PageParts, project_id: string): Promise<Html> => {
  const { mode, version } = await policies.inherited(project_id)
  const next =
    version === 0 ? 'the rules that come with the gateway hold' : html`the policy of ${DEFAULT_PROJECT} holds`
  return html`<div class="faults" role="alert"><p>From the moment this policy is removed, ${next}, in mode ${modeText(mode, default_mode())}; its versions stay below. Press “Remove this policy” again if that is meant.</p></div>`
}

/** What is left now of the budgets of the project and its agents, by the policy in force. */
const budgetSection = async ({ gateway }: PageParts, { project_id, now }: PolicyPageState): Promise<Html> => {
  const budgets = (await gateway.service('rules').get()?.budgets({ project_id })) ?? []
  return budgets.length === 0
    ? html``
    : html`<h2>What is left</h2>${budgetTable(byRemainingShare(budgets), now)}
`
}

const form = async (parts: PageParts, state: PolicyPageState, source: PolicySource): Promise<Html> => {
  const { project_id, draft, faults = [], confirming } = state
  const warnings = await warningsIn(parts, project_id, draft)
  const { detectors, approver } = parts.gateway
  const { rules } = draft
  return html`<form id="policy" method="post" action="/ui/policies/${project_id}">
<button class="hidden-label" name="intent" value="save" tabindex="-1" aria-hidden="true">Save</button>
<input type="hidden" name="expected_version" value="${draft.version}">${confirming && html`<input type="hidden" name="confirmed" value="${confirming}">`}
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
<p class="buttons"><button class="${draft.mode === 'enforce' ? 'grave' : 'main'}" name="intent" value="save">${draft.mode === 'enforce' ? 'Save and enforce' : 'Save'}</button> <button name="intent" value="simulate">Try on stored traffic</button> <a class="button" href="/policies/${project_id}">Discard</a>${source === 'own' && html` <button${confirming === 'remove' && raw` class="grave"`} name="intent" value="drop">Remove this policy</button>`}</p>
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

const VERSIONS = 20

/** The versions of a policy, newest first, with what each changed; a button puts one into the form. */
const historySection = async (
  gateway: Gateway,
  { now, project_id }: PolicyPageState,
  version: number,
): Promise<Html> => {
  const { rows } = await gateway.storage.find('policy_versions', { where: { project_id }, limit: VERSIONS + 1 })
  if (rows.length === 0) return html``
  return html`<h2>Versions</h2>
<table class="list rows stacks"><thead><tr><th scope="col">Version</th><th scope="col">Saved</th><th scope="col" class="free">Changed</th><th scope="col"><span class="hidden-label">Act</span></th></tr></thead><tbody>
${rows.slice(0, VERSIONS).map(
  (row, at) => html`<tr id="version-${row.version}"><td>${row.version}</td><td>${instantMark(row.updated_at, now)}</td>
<td>${changeText(row, rows[at + 1])}</td><td>${row.version === version ? html`<span class="quiet">in force</span>` : html`<button class="plain" form="policy" name="intent" value="restore:${row.version}">Put into the form</button>`}</td></tr>
`,
)}</tbody></table>
${rows.length > VERSIONS && html`<p class="quiet">The newest ${VERSIONS}.</p>`}`
}

const changeText = (row: PolicyVersionRow, before: PolicyVersionRow | undefined): string => {
  if (before === undefined) return row.version === 1 ? `${row.rules.length} rules` : ''
  return differences(before, row).join('; ') || 'nothing'
}

interface Compared {
  readonly mode: Mode | null
  readonly rules: readonly Rule[]
}

/** What changed from one policy to a later one, a phrase each; none: nothing did. */
const differences = (before: Compared, after: Compared): readonly string[] => {
  const changeLines: string[] = []
  if (before.mode !== after.mode) changeLines.push(`mode ${modeWord(before.mode)} → ${modeWord(after.mode)}`)
  const earlier = new Map(before.rules.map((rule) => [rule.id, rule]))
  const later = new Map(after.rules.map((rule) => [rule.id, rule]))
  for (const id of earlier.keys()) if (!later.has(id)) changeLines.push(`${id} removed`)
  for (const [id, rule] of later) {
    const was = earlier.get(id)
    if (was === undefined) changeLines.push(`${id} added`)
    else changeLines.push(...changes(was, rule).map((change) => `${id}: ${change}`))
  }
  if (orderOf(before.rules, later) !== orderOf(after.rules, earlier)) changeLines.push('another order')
  return changeLines
}

const modeWord = (mode: Mode | null): string => mode ?? 'inherited'

const compared = ['rule_type', 'threshold', 'window_size', 'action', 'params', 'note'] as const

const changes = (before: Rule, after: Rule): string[] => {
  const changeLines = compared.flatMap((name) => {
    const [was, is] = [JSON.stringify(before[name]) ?? 'none', JSON.stringify(after[name]) ?? 'none']
    return was === is ? [] : [`${name} ${was} → ${is}`]
  })
  if (before.enabled !== after.enabled) changeLines.push(after.enabled ? 'on' : 'off')
  return changeLines
}

/** The ids that both have, in the order of one. */
const orderOf = (rules: readonly Rule[], other: ReadonlyMap<string, Rule>): string =>
  rules
    .map(({ id }) => id)
    .filter((id) => other.has(id))
    .join(' ')

const MAX_SESSIONS = 20

/** What the rules of a form would have done to the stored traffic of a project. */
const simulationSection = async (
  { gateway, left }: PageParts,
  { project_id, now }: PolicyPageState,
  { mode, rules }: SimulatedPolicy,
  default_mode: Simulation['mode'],
): Promise<Html> => {
  const found = await simulate(gateway, left.budgets.calendar, { project_id, rules, mode: mode ?? default_mode })
  const { sessions, requests, truncated, flagged, not_simulated } = found
  if (sessions === 0)
    return html`<section class="tried" aria-label="Tried on stored traffic"><h2>Tried on stored traffic</h2><p>No request of this project is on record, so there is nothing to try the rules on.</p></section>`
  return html`<section class="tried" aria-label="Tried on stored traffic"><h2>Tried on stored traffic</h2>
<p>${countMark(sessions)} session${sessions !== 1 && 's'} with ${countMark(requests)} request${requests !== 1 && 's'}${truncated && html` <span class="quiet">the newest; there is more</span>`}. ${flagged.length === 0 ? `No rule would have spoken${not_simulated.length > 0 ? ' where it could be tried' : ''}.` : html`In ${countMark(flagged.length)} of them a rule would have ${found.mode === 'enforce' ? 'blocked or flagged' : 'flagged'} something.`}</p>
${not_simulated.map(({ message }) => html`<p class="warning">${message}</p>`)}
${flagged.length > 0 && html`${ruleTable(gateway, found)}${sessionTable(found, now)}`}</section>`
}

const ruleTable = (gateway: Gateway, { rules }: Simulation): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col" class="free">Rule</th><th scope="col" class="figure">Sessions</th><th scope="col" class="figure">Share</th><th scope="col" class="figure">Requests after it</th><th scope="col" class="figure">Tokens after it</th><th scope="col" class="figure">${costHead(gateway, 'Cost after it')}</th><th scope="col">False positives?</th></tr></thead><tbody>
${rules.map(ruleLine)}</tbody></table>`

const ruleLine = (rule: RuleTotal): Html =>
  html`<tr><th scope="row">${rule.rule_id}${rule.rule_type !== rule.rule_id && html` <span class="quiet">${rule.rule_type}</span>`}</th><td class="figure">${countMark(rule.sessions)}<span class="unit"> sessions</span></td><td class="figure">${(rule.share * 100).toFixed(rule.share < 0.1 ? 1 : 0)} %</td><td class="figure">${countMark(rule.requests_after)}<span class="unit"> requests after</span></td><td class="figure">${countMark(rule.tokens_after)}<span class="unit"> tokens after</span></td><td class="figure">${priceMark(rule.cost_after_micro)}<span class="unit"> cost after</span></td><td>${rule.differing_results > 0 && html`<span class="warning">${rule.differing_results} had differing results</span>`}${rule.unseen_sessions > 0 && html` <span class="warning">not tried on all of ${rule.unseen_sessions} sessions</span>`}</td></tr>
`

const sessionTable = ({ flagged }: Simulation, now: number): Html =>
  html`<details><summary>The sessions${flagged.length > MAX_SESSIONS && `, ${MAX_SESSIONS} of ${flagged.length}`}</summary><table class="list rows stacks"><thead><tr><th scope="col">Time</th><th scope="col">Session</th><th scope="col">Would be</th><th scope="col" class="figure">At request</th><th scope="col">Rule</th><th scope="col" class="free">Evidence</th><th scope="col" class="figure">Tokens after it</th></tr></thead><tbody>
${flagged.slice(0, MAX_SESSIONS).map((session) => sessionLine(session, now))}</tbody></table></details>`

const sessionLine = (session: FlaggedSession, now: number): Html => {
  const { session_id, decision, at, step, rule_id, message, tokens_after, results_equal } = session
  return html`<tr><td>${instantMark(at, now)}</td><td><a href="/sessions/${session_id}"><code>${session_id.slice(0, 12)}…</code></a></td><td>${decision === 'block' ? 'blocked' : 'flagged'}</td><td class="figure">${step}</td><td>${rule_id}</td><td>${message}${results_equal === false && html` <span class="warning">The results differed.</span>`}</td><td class="figure">${countMark(tokens_after)}<span class="unit"> tokens after</span></td></tr>
`
}

/** What a row of the form is shown with. */
interface RowContext {
  readonly index: number
  readonly last: boolean
  readonly types: readonly string[]
  readonly detector: Detector | undefined
  readonly faults: readonly FieldFault[]
  readonly warnings: readonly Warning[]
}

const actions = [
  ['block', 'block'],
  ['steer', 'steer, then block'],
  ['pause', 'pause for a person'],
  ['flag', 'flag'],
] as const

/** A rule as a row of fields, with errors and warnings next to each. */
const ruleRow = (rule: RuleDraft, context: RowContext): Html => {
  const { index, detector, types } = context
  const name = (field: string): string => `rules/${index}/${field}`
  const label = (words: string): string => `${words} of rule ${index + 1}`
  const typed = (
    field: 'id' | 'threshold' | 'window_size' | 'params' | 'note',
    words: string,
    placeholder: string,
    size: number,
    figure = false,
  ) =>
    html`<input id="field-${name(field)}" name="${name(field)}" value="${rule[field]}" size="${size}" placeholder="${placeholder}" aria-label="${label(words)}"${figure ? raw` inputmode="numeric" class="figure"` : ''}${faultRef(context, field)}>`
  const known = types.map((type) => [type, type] as const)
  return html`<tr id="rule-${rule.id}">
<td class="order">${index + 1}</td>
<td>${labelled(label('Type'), name('rule_type'), choice(name('rule_type'), rule.rule_type, known))}<br>${typed('id', 'Id', 'id', 16)}${messageOf(context, 'rule_type', 'id')}</td>
<td data-label="Threshold">${typed('threshold', 'Threshold', text(detector?.defaults.threshold), 8, true)}${detector?.unit !== undefined && html`<br><span class="quiet">${detector.unit}</span>`}${messageOf(context, 'threshold')}</td>
<td data-label="Window">${typed('window_size', 'Window', text(detector?.defaults.window_size), 4, true)}${messageOf(context, 'window_size')}</td>
<td data-label="Action">${labelled(label('Action'), name('action'), choice(name('action'), rule.action, actions))}${messageOf(context, 'action')}</td>
<td data-label="On"><input type="checkbox" name="${name('enabled')}" aria-label="${label('Enabled')}"${rule.enabled ? raw` checked` : ''}></td>
<td class="params">${typed('params', 'Params', paramNames(detector), 24)}${rule.note.includes('\n') ? lines(label('Note'), name('note'), rule.note, faultRef(context, 'note')) : typed('note', 'Note', 'note', 24)}${messageOf(context, 'params', 'note')}</td>
<td class="moves">${index > 0 && html`<button class="plain" name="intent" value="up:${index}" aria-label="${label('Up')}">↑</button>`}${!context.last && html`<button class="plain" name="intent" value="down:${index}" aria-label="${label('Down')}">↓</button>`}<button class="plain" name="intent" value="remove:${index}" aria-label="${label('Remove')}">Remove</button></td></tr>
`
}

const MAX_LINES = 6

/** A field for a text of several lines, which one of a single line would take apart. */
const lines = (label: string, name: string, text: string, fault: Html | string): Html =>
  html`<textarea id="field-${name}" name="${name}" rows="${Math.min(MAX_LINES, text.split('\n').length)}" aria-label="${label}"${fault}>
${text}</textarea>`

const labelled = (label: string, name: string, field: Html): Html =>
  html`<label id="field-${name}"><span class="hidden-label">${label}</span>${field}</label>`

const text = (value: number | undefined): string => (value === undefined ? '' : String(value))

const paramNames = (detector: Detector | undefined): string => {
  const schema = detector?.params
  const names = schema !== undefined && 'properties' in schema ? Object.keys(schema.properties as object) : []
  return names.length === 0 ? 'no params' : `{} ${names.join(', ')}`
}

const faultRef = ({ index, faults }: RowContext, field: string): Html | string => {
  const name = `rules/${index}/${field}`
  return faults.some((fault) => fault.field === name) ? html` aria-invalid="true" aria-describedby="fault-${name}"` : ''
}

/** Errors of these fields, and warnings of the server; a warning without a field is next to the type. */
const messageOf = ({ index, faults, warnings }: RowContext, ...fields: readonly string[]): Html => {
  const of = (field: string): Html[] => {
    const name = `rules/${index}/${field}`
    const path = `/${name}`
    return [
      ...faults
        .filter((fault) => fault.field === name)
        .map(({ message }) => html`<p class="fault" id="fault-${name}">${message}</p>`),
      ...warnings
        .filter((warning) => warning.path === path || (field === 'rule_type' && warning.path === `/rules/${index}`))
        .map(
          ({ code, message }) =>
            html`<p class="warning">${code === 'NO_EVALUATOR' && html`<strong>No evaluator.</strong> `}${message}</p>`,
        ),
    ]
  }
  return html`${fields.flatMap(of)}`
}
