import { type Html, html, pageUrl } from '#lib/html'
import type { Page } from '#lib/page'
import type { Draft } from '../draft/draft.ts'
import type { PageParts } from './types.ts'

/** Where a policy is drafted for a server. */
export const draftUrl = (server_id: string): string => `/drafts/${encodeURIComponent(server_id)}`

/** A policy drafted for one server, to copy or to download. Throws MCP_SERVER_NOT_FOUND, and INVALID_FILTER. */
export const draftPage = ({ mcp }: PageParts): Page => ({
  id: 'mcp/draft',
  path: '/drafts/:id',
  render: async (ask) => {
    const server_id = ask.params.id ?? ''
    const since = ask.query.get('since') || undefined
    const { draftOfRecord } = await import('../draft/draft-of-record.ts')
    const draft = await draftOfRecord(mcp, { server_id, since })
    const main = html`<div class="head"><h1>A draft for ${server_id}</h1><p class="quiet">${draft.rules} rules about ${draft.tools} tools, ${draft.tests} tests, all passed</p><p class="acts"><a href="/mcp#server-${server_id}">The server</a></p></div>
<p>It is in shadow, so that it stops nothing until you say <code>enforce</code>. Save it, go through what is marked <strong>EDIT</strong>, and name it at <code>mcp.policy</code>.</p>
<form class="filters" action="${draftUrl(server_id)}"><label>Calls since<input name="since" size="12" placeholder="all, or 7d" value="${since}"></label><button>Draft again</button></form>
${yamlPart(draft, pageUrl('/api/v1/mcp/draft', { server_id, since: since ?? null, format: 'yaml' }))}`
    return { title: `Draft for ${server_id} · MCP`, main }
  },
})

const yamlPart = ({ yaml }: Draft, file: string): Html =>
  html`<p><a class="button main" href="${file}" download="mcp-policy.yml">Download mcp-policy.yml</a> <button class="plain" data-copy="${yaml}">Copy</button></p>
<pre tabindex="0" role="group" aria-label="The policy">${yaml}</pre>`
