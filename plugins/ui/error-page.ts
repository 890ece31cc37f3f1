import { errorBody, type GuardError, statusOf } from 'guard-gateway/core'
import { html } from 'guard-gateway/lib/html'
import { pathOf } from './page-request.ts'
import { searchForm } from './search.ts'
import type { Shell } from './shell.ts'

/** A request that failed. */
export interface Failed {
  /** Path and query of the request. */
  readonly url: string
  readonly request_id: string
}

const headings: Readonly<Record<number, string>> = {
  401: 'Not known',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Not possible this way',
  409: 'Something has changed meanwhile',
  422: 'Not taken',
  500: 'Something went wrong inside Guard',
  503: 'Not available now',
}

/** Error page with the request, the error and links. */
export const errorPage = (shell: Shell, error: GuardError, { url, request_id }: Failed, isStranger = false): string => {
  const status = statusOf(error)
  const { code, message } = errorBody(error)
  const title = headings[status] ?? 'Not possible'
  if (isStranger) {
    const known = html`<h1>${title}</h1>
<p>${message}</p>
<p class="quiet"><code>${code}</code> · <code>${request_id}</code></p>
<p><a href="/login">Log in</a></p>`
    return shell.bare({ title, main: known })
  }
  const { path, nav } = shell.above(pathOf(url)) ?? {}
  const main = html`<h1>${title}</h1>
<p>${message}</p>
<dl class="facts">
<dt>Asked for</dt><dd><code>${url}</code></dd>
<dt>Code</dt><dd><code>${code}</code> (${status})</dd>
<dt>Request</dt><dd><code>${request_id}</code></dd>
</dl>
${searchForm(status === 404 ? lastPart(pathOf(url)) : '')}
<p>${nav !== undefined && path !== '/' && html`<a href="${path}">${nav.label}</a> · `}<a href="/">What is going on now</a></p>`
  return shell.document({ title, main, status }, pathOf(url))
}

/** The last part of a path: of a page that is not there mostly an id. */
const lastPart = (path: string): string => {
  const part = path.slice(path.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
