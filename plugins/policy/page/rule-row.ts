import type { Detector } from 'guard-gateway/core'
import { choice, type Html, html, raw } from 'guard-gateway/lib/html'
import type { FieldFault } from 'guard-gateway/lib/page'
import type { Warning } from '../document/warnings.ts'
import type { RuleDraft } from './draft.ts'

/** What a row of the form is shown with. */
export interface RowContext {
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
export const ruleRow = (rule: RuleDraft, context: RowContext): Html => {
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
