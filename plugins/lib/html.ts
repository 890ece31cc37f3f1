import type { Gateway } from 'guard-gateway/core'
import { costText, countText, durationText, timeText } from '#lib/format'
import { jsonObjectOf } from '#lib/json'
import type { Ask, FieldFault, Markup } from '#lib/page'

/** An instant in UTC, which script shows in the reader's zone; both in milliseconds since 1970. */
export const instantMark = (at: number, now: number): Html =>
  html`<time datetime="${new Date(at).toISOString()}">${timeText(at, now)}</time>`

/** A number of things with its exact value. */
export const countMark = (count: number): Html =>
  Math.abs(count) < 1_000
    ? html`${count}`
    : html`<span title="${count.toLocaleString('en')}">${countText(count)}</span>`

/** Millionths of a currency's unit with their exact value. */
export const priceMark = (micro: number): Html =>
  micro === 0 ? html`0` : html`<span title="${micro} millionths">${costText(micro)}</span>`

/** What costs are in: the currency of the prices in force; `cost` where there are none. */
export const costUnit = ({ health }: Gateway): string => {
  const { currency } = jsonObjectOf(health.get('pricing')?.())
  return typeof currency === 'string' ? currency : 'cost'
}

/** The head of a column of costs. */
export const costHead = (gateway: Gateway, words = 'Cost'): string => {
  const unit = costUnit(gateway)
  return unit === 'cost' ? words : `${words}, ${unit}`
}

/** A length of time in milliseconds. */
export const durationMark = (ms: number): Html => html`<span title="${ms} ms">${durationText(ms * 1e6)}</span>`

const colours = new Map([
  ['allow', 'ok'],
  ['block', 'error'],
  ['deny', 'error'],
  ['refused', 'error'],
  ['invalid', 'error'],
])

/** A decision as its word, coloured by how grave it is. */
export const decisionMark = (decision: string): Html =>
  html`<span class="${colours.get(decision) ?? 'warning'} status">${decision}</span>`

/** A field with choices, each its value and its label; a value that is none of them is among them, so that it is not lost. */
export const choice = (name: string, value: string, choices: readonly (readonly [string, string])[]): Html => {
  const all = choices.some(([known]) => known === value) ? choices : [...choices, [value, value] as const]
  return html`<select name="${name}">${all.map(
    ([known, label]) => html`<option value="${known}"${known === value ? raw` selected` : ''}>${label}</option>`,
  )}</select>`
}

/** What a field with this `list` suggests; nothing for none. */
export const suggestedValues = (id: string, values: readonly string[]): Html =>
  values.length === 0
    ? html``
    : html`<datalist id="${id}">${values.map((value) => html`<option value="${value}"></option>`)}</datalist>`

/** What is wrong in a form, each point with a link to its field, whose id is `field-` and its name. */
export const faultList = (faults: readonly FieldFault[]): Html =>
  faults.length === 0
    ? html``
    : html`<div class="faults" role="alert"><p>${faults.length === 1 ? 'There is a problem:' : `There are ${faults.length} problems:`}</p><ul>${faults.map(
        ({ field, message }) =>
          html`<li>${field === '' ? message : html`<a href="#field-${field}">${message}</a>`}</li>`,
      )}</ul></div>`

/** The path of a page with some of its query; what is empty or null is left out. */
export const pageUrl = (path: string, query: Readonly<Record<string, string | null>>): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== null && value !== '') search.set(name, value)
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}

/** The links between the pages of a list that continues by cursor: to its beginning, and on. Other parameters stay. */
export const cursorLinks = ({ url, query }: Ask, next_cursor: string | null): Html => {
  const [path = ''] = url.split('?', 1)
  const { cursor: _cursor, notice: _notice, about: _about, ...rest } = Object.fromEntries(query)
  const links = [
    query.has('cursor') && html`<a href="${pageUrl(path, rest)}">← newest</a>`,
    next_cursor !== null && html`<a href="${pageUrl(path, { ...rest, cursor: next_cursor })}">older →</a>`,
  ]
  return html`${links.some((link) => link !== false) && html`<nav class="pages" aria-label="Pages of the list">${links}</nav>`}`
}

/** Where script says how many rows a list has before its first one: `seen` is that row's id, `first` the list's beginning, `what` one of its things. */
export const newRowsMark = (first: string, seen: string, what: string): Html =>
  html`<p id="news" class="news" data-seen="${seen}" data-what="${what}" hidden><a href="${first}"></a></p>`

export class Html implements Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
}

/** What may be in a hole of `html`; null, undefined and false add nothing. */
export type HtmlValue = Html | string | number | bigint | false | null | undefined | readonly HtmlValue[]

/** Where a hole is; `value`: as all of what a form sends back, the attribute of that name or the text of a `textarea`. */
type MarkupContext = 'text' | 'attribute' | 'value' | 'tag'

const contexts = new WeakMap<TemplateStringsArray, readonly MarkupContext[]>()

/**
 * A piece of a page. Text is escaped for where it is: in text, controls and marks that reorder what is read are shown by their number;
 * what a form sends back stays as it is; an attribute must be quoted. Inside a tag but outside quotes only `Html` may be. Throws TypeError where a template breaks these rules.
 */
export const html = (strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html => {
  let known = contexts.get(strings)
  if (known === undefined) {
    known = contextsOf(strings)
    contexts.set(strings, known)
  }
  let text = strings[0] ?? ''
  for (let index = 0; index < values.length; index++)
    text += rendered(values[index], known[index] ?? 'tag') + (strings[index + 1] ?? '')
  return new Html(text)
}

/** A constant written in the source, taken as it is; it has no holes. */
export const raw = (constant: TemplateStringsArray): Html => new Html(constant.join(''))

/** Joins markup. */
export const joined = (pieces: Iterable<Html>): Html => {
  let text = ''
  for (const piece of pieces) text += piece.text
  return new Html(text)
}

/** Text in which nothing is hidden: what no font draws, tags and fillers among it, and what reorders the text around it become `U+202E` and so on. Line feeds, tabs, and the joiners that emoji and scripts are made with stay. */
export const escapeInvisible = (text: string): string =>
  HIDDEN.test(text) ? text.replace(EVERY_HIDDEN, (mark) => `U+${codeOf(mark)}`) : text

const HIDDEN = /[[\p{DI}\p{Cc}\p{Cs}\p{Zl}\p{Zp}]--[\t\n\u200c\u200d\ufe0e\ufe0f]]/v
const EVERY_HIDDEN = new RegExp(HIDDEN.source, 'gv')

const codeOf = (mark: string): string => (mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')

const SPECIAL = /[&<>"'`]/
const EVERY_SPECIAL = /[&<>"'`]/g
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

const escaped = (text: string): string =>
  SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, (mark) => entities[mark] ?? '') : text

const rendered = (value: HtmlValue, place: MarkupContext): string => {
  if (value === null || value === undefined || value === false || value === '') return ''
  if (value instanceof Html) {
    if (place === 'attribute' || place === 'value') throw new TypeError('Markup cannot stand inside an attribute.')
    return value.text
  }
  if (typeof value === 'object') return value.map((one) => rendered(one, place)).join('')
  if (place === 'tag') throw new TypeError('A value inside a tag must stand in a quoted attribute.')
  const text = String(value)
  return escaped(place === 'value' ? text : escapeInvisible(text))
}

const VALUE = /\svalue=["']$/
const TYPED = /<textarea\b[^>]*>\n?$/

/** Follows the constant parts of a template from text into tags and quotes and out again. */
const contextsOf = (strings: TemplateStringsArray): readonly MarkupContext[] => {
  let at = '>'
  let before = ''
  return strings.map((part) => {
    for (const mark of part) at = after(at, mark)
    before += part
    if (at === '>') return TYPED.test(before) ? 'value' : 'text'
    if (at === '<') return 'tag'
    return VALUE.test(part) ? 'value' : 'attribute'
  })
}

/** Where one is after `mark`: `>` in text, `<` in a tag, a quote inside it. */
const after = (at: string, mark: string): string => {
  if (at === '>') return mark === '<' ? mark : at
  if (at === '<') return mark === '>' || mark === '"' || mark === "'" ? mark : at
  return mark === at ? '<' : at
}
