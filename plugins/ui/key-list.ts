import { type Html, html } from 'guard-gateway/lib/html'
import type { Page } from 'guard-gateway/lib/page'

/** Keyboard shortcuts in display order; those of pages precede the last one. */
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

/** Dialog with the keyboard shortcuts. A script opens it. */
export const keyList = (entries: readonly Page[]): Html => {
  const leading = entries.flatMap(({ nav }) => (nav === undefined ? [] : [[`g ${nav.key}`, nav.label] as const]))
  return html`<dialog id="keys" aria-label="Keys"><dl class="facts">${[...keys, ...leading, LAST].map(
    ([key, what]) => html`<dt>${key}</dt><dd>${what}</dd>`,
  )}</dl></dialog>`
}
