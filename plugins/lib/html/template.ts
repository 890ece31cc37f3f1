import type { Markup } from '#lib/page'

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
