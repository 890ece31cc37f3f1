import { GuardError } from 'guard-gateway/core'
import { type Html, html } from 'guard-gateway/lib/html'
import type { Page } from 'guard-gateway/lib/page'
import { GUIDE, type Guide } from '../guide.ts'
import type { Leaf } from '../library.ts'
import { guideForm } from './list.ts'

/** With so many headings a page begins with a list of them; more are looked for by the browser. */
const MIN_HEADINGS = 4
const MAX_HEADINGS = 40

/** One page of the guide. Throws NOT_FOUND for one that is not in the list. */
export const leafPage = (guide: Guide, redact: (text: string) => string): Page => ({
  id: 'docs/guide/page',
  path: `${GUIDE}/:page`,
  render: async ({ params }) => {
    const found = (await guide.leaves()).find(({ slug }) => slug === params.page)
    if (found === undefined)
      throw new GuardError('NOT_FOUND', `No page of the guide is called "${redact(params.page ?? '')}".`)
    return { title: `${found.title} · Guide`, main: mainOf(found) }
  },
})

const mainOf = ({ group, main, sections }: Leaf): Html => {
  const headings = sections.filter(({ depth }) => depth === 2)
  return html`<p><a href="${GUIDE}">Guide</a> · ${group}</p>
${guideForm()}
${headings.length >= MIN_HEADINGS && headings.length <= MAX_HEADINGS && html`<nav class="chips" aria-label="On this page">${headings.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}</nav>`}
<article class="guide">${main}</article>`
}
