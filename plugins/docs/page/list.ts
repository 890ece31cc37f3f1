import { type Html, html } from '#lib/html'
import type { Ask, Page } from '#lib/page'
import { GUIDE, type Guide } from '../guide/guide.ts'
import { foundList } from '../guide/list-page.ts'
import type { Found } from '../guide/search.ts'
import { type Description, type LocatedOperation, operationsOf } from './description.ts'

const MAX_FOUND = 3

/** Operations by group, filtered by the search words; with parts of the guide that have these words. */
export const listPage = (describe: () => Description, guide: Guide): Page => ({
  id: 'docs',
  path: '/docs',
  nav: { label: 'Docs', order: 90, key: 'd' },
  render: async (ask) => {
    const q = ask.query.get('q') ?? ''
    return { title: 'API', main: mainOf(describe(), ask, q === '' ? [] : await guide.search(q, MAX_FOUND)) }
  },
})

const mainOf = (description: Description, { query }: Ask, found: readonly Found[]): Html => {
  const q = query.get('q') ?? ''
  const words = q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const matching = operationsOf(description).filter((located) => words.every((word) => textOf(located).includes(word)))
  const groups = Map.groupBy(matching, ({ operation }) => operation.tags?.[0] ?? 'other')
  // plugins may add groups that the description does not list
  const names = new Set([...description.tags.map(({ name }) => name), ...groups.keys()])
  const order = [...names].filter((name) => groups.has(name))
  return html`<div class="head"><h1>API</h1><p class="quiet">version ${description.info.version}</p><p class="acts"><a href="${GUIDE}">Guide: how to, concepts, reference</a> · <a href="/openapi.json">openapi.json</a></p></div>
<p>${description.info.description}</p>
<form class="filters" action="/docs" role="search"><label>Search<input type="search" name="q" value="${q}" size="24" placeholder="words of path or purpose"></label><button>Search</button>${q !== '' && html` <a class="clear" href="/docs">Clear</a>`}</form>
${found.length > 0 && html`<section aria-label="In the guide">${foundList(found)}<p><a href="${GUIDE}?q=${encodeURIComponent(q)}">More in the guide</a></p></section>`}
${order.length > 1 && html`<nav class="chips" aria-label="Groups">${order.map((name) => html`<a href="#${anchorOf(name)}">${name}</a>`)}</nav>`}
${matching.length === 0 && html`<p class="empty">No operation matches. <a href="/docs">Show all</a></p>`}
${
  matching.length > 0 &&
  html`<table class="list stacks"><thead><tr><th scope="col">Method</th><th scope="col">Path</th><th scope="col" class="free">Purpose</th><th scope="col">Key</th></tr></thead>
${order.map((name) => group(name, description.tags.find((tag) => tag.name === name)?.description, groups.get(name) ?? []))}</table>`
}`
}

const textOf = ({ method, path, operation }: LocatedOperation): string =>
  `${method} ${path} ${operation.summary} ${operation.tags?.join(' ')}`.toLowerCase()

const anchorOf = (name: string): string => name.replaceAll(/\W+/g, '-')

const group = (name: string, description: string | undefined, operations: readonly LocatedOperation[]): Html =>
  html`<tbody><tr><th scope="rowgroup" colspan="4"><h2 id="${anchorOf(name)}">${name}</h2>${description !== undefined && html`<p class="quiet">${description}</p>`}</th></tr>
${operations.map(
  ({ id, method, path, operation }) =>
    html`<tr id="${id}" data-row><td><code>${method}</code></td><th scope="row"><a href="/docs/${encodeURIComponent(id)}"><code>${path}</code></a></th><td>${operation.summary}</td><td>${operation.security !== undefined && html`<span class="unit">key </span>required`}</td></tr>
`,
)}</tbody>`
