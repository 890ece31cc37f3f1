import type { Gateway } from 'guard-gateway/core'
import { type Html, html } from '#lib/html'
import { type Page, type SearchHit, type SearchSource, searchSourceKind, type View } from '#lib/page'

const MAX_CHARS = 512
const MAX_HITS = 50

/** Finds a thing by its id or name. One hit leads to its page, several are listed, none offers a search for words. */
export const searchPage = (gateway: Gateway): Page => ({
  id: 'search',
  path: '/search',
  render: async ({ query }) => {
    const text = (query.get('q') ?? '').trim()
    if (text.length > MAX_CHARS) return viewOf(text, html`<p class="faults" role="alert">${tooLong(text)}</p>`, 400)
    const sources = sourcesOf(gateway)
    if (text === '') return viewOf(text, html`<p class="quiet">${takesText(sources)}</p>`)
    const hits = await hitsOf(gateway, sources, text)
    const [only] = hits
    if (only !== undefined && hits.length === 1) return { ...viewOf(text, html``), location: only.url }
    return viewOf(text, hits.length === 0 ? noneText(sources, text) : html`${hitList(hits)}${wordLinks(sources, text)}`)
  },
})

/** A field for ids and names, with what is typed. */
export const searchForm = (text = ''): Html =>
  html`<form class="filters" action="/search" role="search" aria-label="Ids and names"><label class="wide">Id, name or words<input type="search" name="q" value="${text}"></label><button>Search</button></form>`

const viewOf = (text: string, main: Html, status?: number): View => ({
  title: text === '' ? 'Search' : `${text.slice(0, 60).toWellFormed()} · Search`,
  main: html`<h1>Search</h1>
${searchForm(text)}
${main}`,
  ...(status === undefined ? {} : { status }),
})

const sourcesOf = (gateway: Gateway): readonly SearchSource[] =>
  [...gateway.registry(searchSourceKind)].sort((one, other) => one.order - other.order)

/** Hits of all sources, one for each page. */
const hitsOf = async (
  gateway: Gateway,
  sources: readonly SearchSource[],
  text: string,
): Promise<readonly SearchHit[]> => {
  const found = await Promise.all(
    sources.map(async (source) => {
      try {
        return await source.find(text)
      } catch (error) {
        gateway.fault(error, `search:${source.id}`)
        return []
      }
    }),
  )
  const byUrl = new Map<string, SearchHit>()
  for (const hit of found.flat()) if (!byUrl.has(hit.url)) byUrl.set(hit.url, hit)
  return [...byUrl.values()].slice(0, MAX_HITS)
}

const hitList = (hits: readonly SearchHit[]): Html =>
  html`<table class="list rows"><thead><tr><th scope="col">Kind</th><th scope="col" class="free">Id or name</th></tr></thead><tbody>
${hits.map(
  ({ kind, title, url, note }) =>
    html`<tr data-row><td>${kind}</td><th scope="row"><a href="${url}"><bdi>${title}</bdi></a>${note !== undefined && html` <span class="quiet">${note}</span>`}</th></tr>
`,
)}</tbody></table>`

const noneText = (sources: readonly SearchSource[], text: string): Html =>
  html`<p class="empty">Nothing has the id or name <code>${text}</code>. ${takesText(sources)}</p>${wordLinks(sources, text)}`

const takesText = (sources: readonly SearchSource[]): string =>
  `Whole ids and names are looked for: ${sources.map(({ takes }) => takes).join('; ')}.`

const wordLinks = (sources: readonly SearchSource[], text: string): Html =>
  html`${sources.map((source) => {
    const words = source.words?.(text)
    return words !== undefined && html`<p><a href="${words.url}">${words.label}</a></p>`
  })}`

const tooLong = (text: string): string =>
  `${text.length} characters are too many to look for; ${MAX_CHARS} may be given.`
