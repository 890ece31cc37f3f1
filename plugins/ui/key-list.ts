import { type Html, html } from 'guard-gateway/lib/html'
import type { Page } from 'guard-gateway/lib/page'

/** Keys and what they do, in display order; the keys of pages precede the last one. */
const keys = [
  ['/', 'search'],
  ['j k', 'next, previous row'],
  ['Enter', 'open the row'],
  ['x', 'select for comparison'],
  ['c', 'compare the selected'],
  ['p', 'pin'],
  ['n b', 'next, previous match'],
  ['[ ]', 'collapse, expand all'],
  ['← →', 'collapse, expand this row'],
  ['+ - 0', 'zoom'],
  ['e', 'next error'],
] as const
const LAST = ['Esc', 'close, clear, leave a field'] as const

/** The list of keys, which script opens. */
export const keyList = (entries: readonly Page[]): Html => {
  const leading = entries.flatMap(({ nav }) => (nav === undefined ? [] : [[`g ${nav.key}`, nav.label] as const]))
  return html`<dialog id="keys" aria-label="Keys"><dl class="facts">${[...keys, ...leading, LAST].map(
    ([key, what]) => html`<dt>${key}</dt><dd>${what}</dd>`,
  )}</dl></dialog>`
}
