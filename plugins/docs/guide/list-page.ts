import { type Html, html } from '#lib/html'
import type { Page } from '#lib/page'
import { GUIDE, type Guide } from './guide.ts'
import type { Leaf } from './library.ts'
import type { Found } from './search.ts'

const MAX_CHARS = 200
const MAX_FOUND = 30

/** All pages of the guide by group, or the parts of them that a search finds. */
export const listPage = (guide: Guide): Page => ({
  id: 'docs/guide',
  path: GUIDE,
  render: async ({ query }) => {
    const q = (query.get('q') ?? '').trim().slice(0, MAX_CHARS).toWellFormed()
    const body = q === '' ? groups(await guide.leaves()) : results(q, await guide.search(q, MAX_FOUND))
    return {
      title: q === '' ? 'Guide' : `${q} · Guide`,
      main: html`<div class="head"><h1>Guide</h1><p class="acts"><a href="/docs">API</a></p></div>
${guideForm(q)}
<div class="guide">${body}</div>`,
    }
  },
})

/** The search of the guide, with what is looked for. */
export const guideForm = (q = ''): Html =>
  html`<form class="filters" action="${GUIDE}" role="search" aria-label="Guide"><label>Search the guide<input type="search" name="q" value="${q}" size="32" maxlength="${MAX_CHARS}" placeholder="words of titles, headings and text"></label><button>Search</button>${q !== '' && html` <a class="clear" href="${GUIDE}">Clear</a>`}</form>`

const groups = (leaves: readonly Leaf[]): readonly Html[] =>
  [...Map.groupBy(leaves, ({ group }) => group)].map(
    ([name, pages]) => html`<h2>${name}</h2>
<ul>${pages.map(({ slug, title }) => html`<li data-row id="page-${slug}"><a href="${GUIDE}/${slug}">${title}</a></li>`)}</ul>`,
  )

const results = (q: string, found: readonly Found[]): Html =>
  found.length === 0
    ? html`<p class="empty">No page has all of these words: <code>${q}</code>. <a href="${GUIDE}">All pages</a> · <a href="/docs?q=${encodeURIComponent(q)}">Search the API</a></p>`
    : html`<p class="quiet">${found.length === MAX_FOUND ? `The ${MAX_FOUND} nearest parts of pages` : `${found.length} part${found.length === 1 ? '' : 's'} of pages`}</p>
${foundList(found)}`

/** Parts of pages with the text around what was found. */
export const foundList = (found: readonly Found[]): Html =>
  html`<ul class="found">${found.map(
    ({ slug, anchor, page, title, text, words }) =>
      html`<li data-row><a href="${GUIDE}/${slug}#${anchor}">${title === page ? page : `${page} · ${title}`}</a><br>${excerpt(text, words)}</li>
`,
  )}</ul>`

const CHARS_BEFORE = 60
const CHARS = 240

/** The text around the first of these words, with each of them marked. */
const excerpt = (text: string, words: readonly string[]): Html => {
  const flat = text.replaceAll(/\s+/g, ' ').trim()
  const pattern = patternOf(words)
  const at = pattern === undefined ? 0 : Math.max(flat.search(pattern), 0)
  const from = at <= CHARS_BEFORE ? 0 : flat.indexOf(' ', at - CHARS_BEFORE) + 1
  const piece = flat.slice(from, from + CHARS).toWellFormed()
  const parts = pattern === undefined ? [piece] : piece.split(pattern)
  return html`${from > 0 && '… '}${parts.map((part, index) => (index % 2 === 1 ? html`<mark>${part}</mark>` : part))}${from + CHARS < flat.length && ' …'}`
}

/** Finds any of these words with one group, so that `split` gives every second. */
const patternOf = (words: readonly string[]): RegExp | undefined =>
  words.length === 0
    ? undefined
    : new RegExp(`\\b(${words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')})`, 'iu')
